// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {IMessageTransmitterV2} from "../src/ICctpV2.sol";
import {Inbox} from "../src/Inbox.sol";
import {Payment} from "../src/Payment.sol";
import {Route, Terms} from "../src/Terms.sol";
import {CctpWorld} from "./cctp/World.sol";

/// @dev A transmitter that does whatever it was told to do.
contract HostileTransmitter {
    address private target;
    bytes private data;
    bytes private answer;
    bool private reverts;
    bool public refused;

    function aim(address target_, bytes calldata data_) external {
        (target, data) = (target_, data_);
    }

    function speak(bool reverts_, bytes calldata answer_) external {
        (reverts, answer) = (reverts_, answer_);
    }

    function receiveMessage(bytes calldata, bytes calldata) external {
        if (target != address(0)) {
            (bool done, bytes memory reason) = target.call(data);
            refused = !done && bytes4(reason) == IInboxHub.Entered.selector;
        }
        bytes memory words = answer;
        bool reverting = reverts;
        assembly {
            if reverting { revert(add(words, 0x20), mload(words)) }
            return(add(words, 0x20), mload(words))
        }
    }
}

contract GasBurner {
    fallback() external {
        while (true) {}
    }
}

contract ReceiveAndSettleTest is CctpWorld {
    /// @dev A burn on the other chain, attested; the test is on the settle chain afterwards.
    function burnt(uint256 units, uint32 threshold, uint256 fee)
        private
        returns (Terms memory terms, bytes memory message, bytes memory attestation)
    {
        Route memory route;
        (terms, route) = fundedAway(units);
        message = burn(terms, route);
        attestation = attest(message, threshold, fee);
        vm.chainId(home.chainId);
    }

    function atHome(uint256 units) private returns (Terms memory terms) {
        terms = cctpTerms(routeWith(configHome()));
        if (units > 0) home.usdc.mint(hub.inboxOf(terms), units);
        vm.chainId(home.chainId);
    }

    function settledBy(address transmitter, Terms memory terms) private returns (bool received, uint256 gross) {
        return hub.receiveAndSettle(transmitter, "message", "attestation", terms);
    }

    function test_mintsAndPaysInOneTransaction(uint64 units, uint32 feePpm, bool fast) public {
        uint256 amount = 1e6 + uint256(units) % (BURN_LIMIT - 1e6);
        uint256 fee = fast ? amount * (feePpm % 1_401) / 1_000_000 : 0;
        (Terms memory terms, bytes memory message, bytes memory attestation) =
            burnt(amount, fast ? FAST : STANDARD, fee);
        (bool received, uint256 gross) = hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        assertTrue(received, "not received");
        assertEq(gross, amount - fee);
        assertEq(home.usdc.balanceOf(feeRecipient), gross * 50 / 10_000);
        assertEq(home.usdc.balanceOf(payout), gross - gross * 50 / 10_000);
    }

    function test_aMessageThatSomebodyElseRelayed_isSettledAllTheSame() public {
        (Terms memory terms, bytes memory message, bytes memory attestation) = burnt(5e6, FAST, 100);
        home.transmitter.receiveMessage(message, attestation);
        vm.expectRevert("Nonce already used");
        home.transmitter.receiveMessage(message, attestation);
        (bool received, uint256 gross) = hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        assertTrue(!received, "received twice");
        assertEq(gross, 5e6 - 100);
    }

    function test_secondRunMovesNothing() public {
        (Terms memory terms, bytes memory message, bytes memory attestation) = burnt(5e6, FAST, 100);
        hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        vm.getRecordedLogs();
        (bool received, uint256 gross) = hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        assertTrue(!received && gross == 0, "paid twice");
        assertEq(vm.getRecordedLogs().length, 0);
    }

    function test_anExpiredAttestation_isReplacedByAnotherOne() public {
        (Terms memory terms, bytes memory message, bytes memory attestation) = burnt(5e6, FAST, 100);
        vm.roll(block.number + 100);
        (bool received, uint256 gross) = hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        assertTrue(!received && gross == 0, "expired");
        attestation = reattest(message, STANDARD, 0, 0);
        (received, gross) = hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        assertTrue(received, "not received");
        assertEq(gross, 5e6);
    }

    function test_aMessageThatNobodyAttested_mintsNothing(bytes calldata attestation) public {
        (Terms memory terms, bytes memory message,) = burnt(5e6, FAST, 100);
        (bool received, uint256 gross) = hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        assertTrue(!received && gross == 0, "minted without an attestation");
    }

    /// @dev The message of one inbox and the terms of another: each gets its own.
    function test_theMessageNeedNotBelongToTheTerms() public {
        (Terms memory terms, bytes memory message, bytes memory attestation) = burnt(5e6, FAST, 100);
        Terms memory other = terms;
        address inbox = hub.inboxOf(terms);
        other.salt = keccak256("another");
        home.usdc.mint(hub.inboxOf(other), 7e6);
        (bool received, uint256 gross) = hub.receiveAndSettle(address(home.transmitter), message, attestation, other);
        assertTrue(received, "not received");
        assertEq(gross, 7e6);
        assertEq(home.usdc.balanceOf(inbox), 5e6 - 100);
    }

    function test_aTransmitterThatLies_isNotBelieved() public {
        HostileTransmitter hostile = new HostileTransmitter();
        hostile.speak(false, abi.encode(true));
        Terms memory terms = atHome(0);
        (bool received, uint256 gross) = settledBy(address(hostile), terms);
        assertTrue(received && gross == 0, "something was settled out of nothing");
        assertEq(home.usdc.balanceOf(payout), 0);
    }

    function test_onlyTheAnswerTrueIsReceived(bytes32 word) public {
        vm.assume(uint256(word) != 1);
        HostileTransmitter hostile = new HostileTransmitter();
        bytes[4] memory answers = [abi.encode(word), bytes(""), hex"01", abi.encode(uint256(1))];
        for (uint256 i = 0; i < answers.length; ++i) {
            hostile.speak(i == 3, answers[i]);
            (bool received, uint256 gross) = settledBy(address(hostile), atHome(10_000));
            assertTrue(!received, "received");
            assertEq(gross, 10_000);
        }
    }

    function test_whateverTheTransmitterIs_itOnlySettles() public {
        Terms memory terms = atHome(10_000);
        hub.settle(terms);
        address inbox = hub.inboxOf(terms);
        address[7] memory targets =
            [address(0), stranger, address(hub), inbox, address(home.usdc), address(cctp), address(4)];
        for (uint256 i = 0; i < targets.length; ++i) {
            home.usdc.mint(inbox, 10_000);
            (bool received, uint256 gross) = settledBy(targets[i], terms);
            assertTrue(!received, "received");
            assertEq(gross, 10_000);
        }
        assertEq(home.usdc.balanceOf(payout), 8 * 9_950);
        assertEq(home.usdc.balanceOf(feeRecipient), 8 * 50);
    }

    function test_everyCallBackIntoTheHubIsRefused() public {
        HostileTransmitter hostile = new HostileTransmitter();
        Terms memory terms = atHome(10_000);
        terms.recovery = address(hostile);
        home.usdc.mint(hub.inboxOf(terms), 10_000);
        vm.warp(RECOVER_AFTER);
        bytes32[] memory salts = new bytes32[](1);
        salts[0] = terms.salt;
        bytes[6] memory calls = [
            abi.encodeCall(IInboxHub.settle, (terms)),
            abi.encodeCall(IInboxHub.settleMany, (new Terms[](1), ITEM_GAS)),
            abi.encodeCall(IInboxHub.settleNetted, (terms, salts, ITEM_GAS)),
            abi.encodeCall(IInboxHub.bridge, (terms, routeWith(configHome()), salts, "")),
            abi.encodeCall(IInboxHub.receiveAndSettle, (address(hostile), "", "", terms)),
            abi.encodeCall(IInboxHub.rescue, (terms, address(home.usdc), address(hostile)))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            hostile.aim(address(hub), calls[i]);
            settledBy(address(hostile), terms);
            assertTrue(hostile.refused(), "the hub let itself be called");
        }
        assertEq(home.usdc.balanceOf(address(hostile)), 0);
        assertEq(home.usdc.balanceOf(payout), 9_950);
    }

    function test_aTransmitterCannotCommandAnInboxThroughTheHub() public pure {
        bytes4 said = IMessageTransmitterV2.receiveMessage.selector;
        bytes4[3] memory understood = [Inbox.distribute.selector, Inbox.send.selector, Inbox.bridge.selector];
        for (uint256 i = 0; i < understood.length; ++i) {
            assertTrue(said != understood[i], "an inbox understands what the hub says to transmitters");
        }
    }

    function test_aTransmitterThatBurnsGas_keepsNothingBack() public {
        Terms memory terms = atHome(10_000);
        address burner = address(new GasBurner());
        hub.receiveAndSettle{gas: 30_000_000}(burner, "", "", terms);
        assertEq(home.usdc.balanceOf(payout), 9_950);
    }

    /// @dev By however little gas a message fails to be received, the fee of what is settled is paid.
    function test_noGasLimitMakesTheFeeFail_stepByStep() public {
        Terms memory terms = atHome(0);
        address inbox = hub.inboxOf(terms);
        uint256 payments;
        for (uint256 gasLimit = 100_000; gasLimit < 700_000; gasLimit += 4_000) {
            if (home.usdc.balanceOf(inbox) == 0) home.usdc.mint(inbox, 10_000);
            uint256 feesBefore = home.usdc.balanceOf(feeRecipient);
            uint256 paidBefore = home.usdc.balanceOf(payout);
            bytes memory data = abi.encodeCall(IInboxHub.receiveAndSettle, (address(home.transmitter), "", "", terms));
            (bool settled,) = address(hub).call{gas: gasLimit}(data);
            assertEq(home.usdc.balanceOf(feeRecipient) - feesBefore, settled ? 50 : 0);
            assertEq(home.usdc.balanceOf(payout) - paidBefore, settled ? 9_950 : 0);
            if (settled) ++payments;
        }
        assertTrue(payments > 20, "nothing was paid");
    }

    function test_reverts_whenThisIsNotTheSettleChain() public {
        Terms memory terms = atHome(10_000);
        vm.chainId(away.chainId);
        vm.expectRevert(IInboxHub.WrongChain.selector);
        settledBy(stranger, terms);
    }

    /// @dev The message stays unused, and anybody may have it received without settling.
    function test_reverts_whenThePayoutIsRefused_andTheMessageStaysGood() public {
        (Terms memory terms, bytes memory message, bytes memory attestation) = burnt(5e6, FAST, 100);
        home.usdc.blacklist(payout);
        vm.expectRevert(Payment.PayoutFailed.selector);
        hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        home.transmitter.receiveMessage(message, attestation);
        assertEq(home.usdc.balanceOf(hub.inboxOf(terms)), 5e6 - 100);
    }
}
