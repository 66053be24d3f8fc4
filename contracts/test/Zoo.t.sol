// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Route, Terms} from "../src/Terms.sol";
import {BridgeBaseTest} from "./BridgeBase.t.sol";
import {Routes} from "./Routes.sol";
import {
    FalseToken,
    HookToken,
    IdleToken,
    LyingToken,
    NoReturnToken,
    ReentrantToken,
    StubbornToken,
    TaxToken,
    TwoToken
} from "./tokens/OddTokens.sol";
import {PlainToken} from "./tokens/PlainToken.sol";

/// @dev Every odd token under every call that moves money: nothing goes to a stranger, nobody else's inbox is touched, and a
/// call that fails moves nothing.
contract ZooTest is BridgeBaseTest {
    using Routes for Route[];

    uint256 private constant UNITS = 10_000;
    uint256 private constant CALLS = 6;
    address private safe = vm.addr(6);

    function zoo() private returns (PlainToken[10] memory) {
        FalseToken refusing = new FalseToken();
        refusing.setBlocked(payout, true);
        refusing.setBlocked(address(wire), true);
        return [
            new PlainToken(),
            new NoReturnToken(),
            refusing,
            new TaxToken(),
            new HookToken(),
            new StubbornToken(),
            new LyingToken(1),
            new LyingToken(-1),
            new IdleToken(),
            new TwoToken()
        ];
    }

    /// @dev A call that moves money out of the inbox of these terms, on the chain where it works.
    function perform(uint256 choice, Terms memory terms, Route memory route) private returns (bool done) {
        bytes32[] memory salts = new bytes32[](1);
        salts[0] = terms.salt;
        Terms[] memory items = new Terms[](1);
        items[0] = terms;
        bytes[CALLS] memory calls = [
            abi.encodeCall(IInboxHub.settle, (terms)),
            abi.encodeCall(IInboxHub.settleMany, (items, ITEM_GAS)),
            abi.encodeCall(IInboxHub.settleNetted, (terms, salts, ITEM_GAS)),
            abi.encodeCall(IInboxHub.receiveAndSettle, (stranger, "", "", terms)),
            abi.encodeCall(IInboxHub.bridge, (terms, route, noProof(), "")),
            abi.encodeCall(IInboxHub.rescue, (terms, address(token), safe))
        ];
        vm.chainId(choice == 4 ? AWAY : HOME);
        vm.warp(RECOVER_AFTER);
        vm.prank(choice == 5 ? recovery : stranger);
        (done,) = address(hub).call(calls[choice]);
    }

    function pinned() private view returns (Terms memory mine, Terms memory bystander, Route memory route) {
        route = usualRoute();
        mine = routedTerms(listOf(route));
        mine.settleToken = address(token);
        bystander = abi.decode(abi.encode(mine), (Terms));
        (bystander.payout, bystander.feeRecipient) = (vm.addr(7), vm.addr(8));
    }

    function accountedFor(Terms memory terms) private view returns (uint256 units) {
        address[5] memory places = [hub.inboxOf(terms), payout, feeRecipient, safe, address(wire)];
        for (uint256 i = 0; i < places.length; ++i) {
            units += token.holdings(places[i]);
        }
    }

    function test_noTokenBringsMoneyToAnywhereElse() public {
        for (uint256 choice = 0; choice < CALLS; ++choice) {
            PlainToken[10] memory all = zoo();
            for (uint256 i = 0; i < all.length; ++i) {
                token = all[i];
                (Terms memory mine, Terms memory bystander, Route memory route) = pinned();
                token.mint(hub.inboxOf(mine), UNITS);
                token.mint(hub.inboxOf(bystander), UNITS);
                bool done = perform(choice, mine, route);
                assertEq(token.holdings(hub.inboxOf(bystander)), UNITS);
                assertEq(token.holdings(stranger) + token.holdings(address(hub)), 0);
                uint256 found = accountedFor(mine);
                // Only the token that taxes transfers makes units vanish.
                assertTrue(found == UNITS || (i == 3 && found > UNITS * 97 / 100), "units went elsewhere");
                if (!done) assertEq(token.holdings(hub.inboxOf(mine)), UNITS);
            }
        }
    }

    /// @dev Which of them can be settled in at all.
    function test_honestTokensAreSettledExactly_othersMoveNothing() public {
        bool[10] memory honest = [true, true, false, false, true, true, false, false, false, false];
        PlainToken[10] memory all = zoo();
        for (uint256 i = 0; i < all.length; ++i) {
            if (i == 3 || i == 7) continue;
            token = all[i];
            (Terms memory mine,, Route memory route) = pinned();
            token.mint(hub.inboxOf(mine), UNITS);
            perform(0, mine, route);
            assertEq(token.holdings(payout), honest[i] ? 9_950 : 0);
            assertEq(token.holdings(feeRecipient), honest[i] ? 50 : 0);
        }
    }

    /// @dev A token that says less than is there is settled by what it says; the rest stays.
    function test_anUnderstatedBalance_leavesTheRest() public {
        token = new LyingToken(-1);
        (Terms memory mine,, Route memory route) = pinned();
        token.mint(hub.inboxOf(mine), UNITS);
        assertTrue(perform(0, mine, route), "not settled");
        assertEq(token.holdings(hub.inboxOf(mine)), 1);
        assertEq(token.holdings(payout) + token.holdings(feeRecipient), UNITS - 1);
    }

    /// @dev As ERC-777, in both places where it tells somebody: every way back into the hub is shut, for other inboxes too.
    function test_aTokenThatCallsBack_isRefused() public {
        for (uint256 choice = 0; choice < CALLS; ++choice) {
            for (uint256 back = 0; back < CALLS; ++back) {
                ReentrantToken reentrant = new ReentrantToken();
                token = reentrant;
                (Terms memory mine, Terms memory bystander, Route memory route) = pinned();
                bystander.recovery = address(reentrant);
                token.mint(hub.inboxOf(mine), UNITS);
                token.mint(hub.inboxOf(bystander), UNITS);
                aimBack(reentrant, back, bystander, route);
                assertTrue(perform(choice, mine, route), "not performed");
                assertEq(reentrant.successes(), 0);
                assertEq(token.holdings(hub.inboxOf(bystander)), UNITS);
                assertEq(accountedFor(mine), UNITS);
            }
        }
    }

    function aimBack(ReentrantToken reentrant, uint256 back, Terms memory terms, Route memory route) private {
        bytes32[] memory salts = new bytes32[](1);
        salts[0] = terms.salt;
        bytes[CALLS] memory calls = [
            abi.encodeCall(IInboxHub.settle, (terms)),
            abi.encodeCall(IInboxHub.settleMany, (new Terms[](1), ITEM_GAS)),
            abi.encodeCall(IInboxHub.settleNetted, (terms, salts, ITEM_GAS)),
            abi.encodeCall(IInboxHub.receiveAndSettle, (stranger, "", "", terms)),
            abi.encodeCall(IInboxHub.bridge, (terms, route, noProof(), "")),
            abi.encodeCall(IInboxHub.rescue, (terms, address(reentrant), address(reentrant)))
        ];
        reentrant.aim(address(hub), calls[back]);
    }
}
