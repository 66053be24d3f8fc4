// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Payment} from "../src/Payment.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {
    BlockingToken,
    BombToken,
    FalseToken,
    HookToken,
    NoReturnToken,
    TwoToken,
    UnreadableToken
} from "./tokens/OddTokens.sol";
import {PlainToken} from "./tokens/PlainToken.sol";
import {Log} from "./Vm.sol";

/// @dev A payee that settles again as soon as the payout arrives.
contract GreedyPayee {
    IInboxHub private immutable HUB;
    Terms private terms;
    bool public refused;

    constructor(IInboxHub hub) {
        HUB = hub;
    }

    function aim(Terms calldata terms_) external {
        terms = terms_;
    }

    function tokensReceived(uint256) external {
        again();
    }

    receive() external payable {
        again();
    }

    function again() private {
        try HUB.settle(terms) {}
        catch (bytes memory reason) {
            refused = bytes4(reason) == IInboxHub.Entered.selector;
        }
    }
}

contract SettleTest is BaseTest {
    event Settled(address indexed inbox, uint256 gross, uint256 fee);

    function test_splitsExactly(uint256 gross, uint16 feeBps) public {
        vm.assume(gross > 0);
        feeBps = feeBps % 1_001;
        Terms memory terms = termsOf(0);
        terms.feeBps = feeBps;
        token.mint(hub.inboxOf(terms), gross);
        assertEq(hub.settle(terms), gross);
        uint256 fee = gross > type(uint256).max / 1_000
            ? gross / 10_000 * feeBps + gross % 10_000 * feeBps / 10_000
            : gross * feeBps / 10_000;
        assertEq(token.balanceOf(feeRecipient), fee);
        assertEq(token.balanceOf(payout), gross - fee);
        assertEq(token.balanceOf(hub.inboxOf(terms)), 0);
        assertTrue(token.balanceOf(payout) > 0, "nothing was left for the payout");
    }

    function test_tellsGrossAndFee() public {
        Terms memory terms = funded(100_000_000);
        vm.expectEmit(address(hub));
        emit Settled(hub.inboxOf(terms), 100_000_000, 500_000);
        hub.settle(terms);
    }

    /// @dev A payout that fails must never have paid a fee, and a reader of logs finds the payout first.
    function test_paysThePayoutBeforeTheFee() public {
        Terms memory terms = funded(10_000);
        vm.recordLogs();
        hub.settle(terms);
        Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs[0].topics[2], bytes32(uint256(uint160(payout))));
        assertEq(logs[1].topics[2], bytes32(uint256(uint160(feeRecipient))));
    }

    function test_anyoneMaySettle(address caller) public {
        vm.assume(caller != address(0));
        Terms memory terms = funded(10_000);
        vm.prank(caller);
        hub.settle(terms);
        assertEq(token.balanceOf(payout), 9_950);
    }

    function test_nothingThere_createsNothingAndTellsNothing() public {
        Terms memory terms = termsOf(0);
        vm.recordLogs();
        assertEq(hub.settle(terms), 0);
        assertEq(vm.getRecordedLogs().length, 0);
        assertEq(hub.inboxOf(terms).code.length, 0);
    }

    function test_secondRunMovesNothing() public {
        Terms memory terms = funded(10_000);
        hub.settle(terms);
        vm.recordLogs();
        assertEq(hub.settle(terms), 0);
        assertEq(vm.getRecordedLogs().length, 0);
        assertEq(token.balanceOf(payout), 9_950);
    }

    function test_laterDepositIsSettledAgain(uint96 first, uint96 second) public {
        vm.assume(first > 0 && second > 0);
        Terms memory terms = funded(first);
        hub.settle(terms);
        token.mint(hub.inboxOf(terms), second);
        assertEq(hub.settle(terms), second);
        uint256 fees = uint256(first) * 50 / 10_000 + uint256(second) * 50 / 10_000;
        assertEq(token.balanceOf(feeRecipient), fees);
        assertEq(token.balanceOf(payout), uint256(first) + second - fees);
    }

    function test_feeThatRoundsToNothing_isNotSent() public {
        Terms memory terms = funded(199);
        terms.feeRecipient = address(0);
        token.mint(hub.inboxOf(terms), 199);
        hub.settle(terms);
        assertEq(token.balanceOf(payout), 199);
    }

    function test_refusedFee_isForfeitedToThePayout() public {
        BlockingToken[4] memory tokens =
            [new BlockingToken(), BlockingToken(new FalseToken()), new NoReturnToken(), new BombToken()];
        for (uint256 i = 0; i < tokens.length; ++i) {
            Terms memory terms = termsOf(0);
            terms.settleToken = address(tokens[i]);
            tokens[i].setBlocked(feeRecipient, true);
            tokens[i].mint(hub.inboxOf(terms), 10_000);
            vm.expectEmit(address(hub));
            emit Settled(hub.inboxOf(terms), 10_000, 0);
            hub.settle(terms);
            assertEq(tokens[i].balanceOf(payout), 10_000);
            assertEq(tokens[i].balanceOf(feeRecipient), 0);
        }
    }

    function test_tokenWithoutReturnValue_isPaid() public {
        NoReturnToken odd = new NoReturnToken();
        Terms memory terms = termsOf(0);
        terms.settleToken = address(odd);
        odd.mint(hub.inboxOf(terms), 10_000);
        hub.settle(terms);
        assertEq(odd.balanceOf(payout), 9_950);
        assertEq(odd.balanceOf(feeRecipient), 50);
    }

    function test_nativeCoin_isPaid() public {
        Terms memory terms = termsOf(0);
        terms.settleToken = address(0);
        vm.deal(hub.inboxOf(terms), 1 ether);
        hub.settle(terms);
        assertEq(payout.balance, 0.995 ether);
        assertEq(feeRecipient.balance, 0.005 ether);
        (bool sent,) = hub.inboxOf(terms).call{value: 1 ether}("");
        assertTrue(sent, "a created inbox refused native coin");
        hub.settle(terms);
        assertEq(payout.balance, 1.99 ether);
    }

    function test_payeeThatReenters_cannotTakeTheFee() public {
        PlainToken[2] memory tokens = [PlainToken(new HookToken()), PlainToken(address(0))];
        for (uint256 i = 0; i < tokens.length; ++i) {
            GreedyPayee payee = new GreedyPayee(hub);
            Terms memory terms = termsOf(i);
            terms.settleToken = address(tokens[i]);
            terms.payout = address(payee);
            payee.aim(terms);
            address inbox = hub.inboxOf(terms);
            if (i == 0) tokens[0].mint(inbox, 10_000);
            else vm.deal(inbox, 10_000);
            hub.settle(terms);
            assertTrue(payee.refused(), "the payee could settle in the middle");
            assertEq(i == 0 ? tokens[0].balanceOf(feeRecipient) : feeRecipient.balance, 50);
        }
    }

    function test_reverts_whenPayoutIsRefused() public {
        BlockingToken[3] memory tokens = [new BlockingToken(), BlockingToken(new FalseToken()), new BombToken()];
        for (uint256 i = 0; i < tokens.length; ++i) {
            Terms memory terms = termsOf(0);
            terms.settleToken = address(tokens[i]);
            tokens[i].setBlocked(payout, true);
            tokens[i].mint(hub.inboxOf(terms), 10_000);
            vm.expectRevert(Payment.PayoutFailed.selector);
            hub.settle(terms);
            assertEq(tokens[i].balanceOf(hub.inboxOf(terms)), 10_000);
        }
    }

    function test_reverts_whenTokenAnswersNeitherTrueNorFalse() public {
        token = new TwoToken();
        Terms memory terms = funded(10_000);
        vm.expectRevert(Payment.PayoutFailed.selector);
        hub.settle(terms);
    }

    function test_reverts_whenBothFeeAndForfeitAreRefused() public {
        StingyToken stingy = new StingyToken(payout);
        token = stingy;
        Terms memory terms = funded(10_000);
        vm.expectRevert(Payment.PayoutFailed.selector);
        hub.settle(terms);
        assertEq(token.balanceOf(hub.inboxOf(terms)), 10_000);
    }

    function test_reverts_whenThisIsAnotherChain() public {
        Terms memory terms = funded(10_000);
        vm.chainId(block.chainid + 1);
        vm.expectRevert(IInboxHub.WrongChain.selector);
        hub.settle(terms);
    }

    function test_reverts_whenThePayoutIsNotOnAnEvmChain() public {
        Terms memory terms = termsOf(0);
        (terms.settleChainId, terms.settleToken, terms.payout) = (0, address(0), address(0));
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.expectRevert(IInboxHub.WrongChain.selector);
        hub.settle(terms);
    }

    function test_reverts_whenFeeIsAboveTheCap(uint16 feeBps) public {
        vm.assume(feeBps > 1_000);
        Terms memory terms = termsOf(0);
        terms.feeBps = feeBps;
        token.mint(hub.inboxOf(terms), 10_000);
        vm.expectRevert(IInboxHub.FeeTooHigh.selector);
        hub.settle(terms);
    }

    function test_reverts_whenBalanceCannotBeRead() public {
        Terms memory terms = termsOf(0);
        terms.settleToken = address(new UnreadableToken());
        vm.expectRevert(IInboxHub.BalanceUnreadable.selector);
        hub.settle(terms);
        terms.settleToken = stranger;
        vm.expectRevert(IInboxHub.BalanceUnreadable.selector);
        hub.settle(terms);
    }
}

/// @dev Lets one transfer pass to its favourite and refuses everything else.
contract StingyToken is PlainToken {
    address private immutable FAVOURITE;
    bool private served;

    constructor(address favourite) {
        FAVOURITE = favourite;
    }

    function _move(address to, uint256 units) internal override {
        require(to == FAVOURITE && !served, "refused");
        served = true;
        super._move(to, units);
    }
}
