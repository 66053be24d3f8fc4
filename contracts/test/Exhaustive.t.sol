// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {BlockingToken} from "./tokens/OddTokens.sol";

/// @dev Every sequence of EXHAUSTIVE_CALLS calls (default 1) on every small state, instead of samples: two inboxes of one merchant with 0, 1 or
/// 10,001 units each, a fee of 0, 1 or 1,000 bps, every combination of blocked wallets, and every call that moves money.
///
/// Claims, in units of the token, before and after each call of anyone:
/// - Conservation: what left the inboxes arrived at the payout and at the fee recipient, to the unit: gross = fee + net.
/// - Destination: nothing is anywhere but in the two inboxes, at the payout, at the fee recipient and, rescued by the
///   recovery address after its date, with its receiver.
/// - Fee: each inbox pays floor(gross * feeBps / 10000) once for each settlement, or nothing when its wallet is blocked.
/// - Atomicity: an inbox is emptied or keeps everything.
/// - Idempotence: the same call again, with nothing deposited between, moves nothing.
contract ExhaustiveTest is BaseTest {
    uint256 private constant CALLS = 7;

    BlockingToken private issuer;
    Terms[2] private terms;
    address[2] private inboxes;
    address private safe = vm.addr(6);

    /// @dev Reverts always, so that every sequence begins in the same state.
    error Checked();

    struct State {
        uint256 one;
        uint256 other;
        uint256 payout;
        uint256 fee;
        uint256 safe;
    }

    function setUp() public override {
        super.setUp();
        issuer = new BlockingToken();
        token = issuer;
    }

    function test_everySequenceOnEveryState() public {
        uint256[3] memory amounts = [uint256(0), 1, 10_001];
        uint16[3] memory fees = [uint16(0), 1, 1_000];
        uint256 checked = 0;
        for (uint256 state = 0; state < 27 * 8; ++state) {
            uint256[3] memory digits = [state % 3, state / 3 % 3, state / 9 % 3];
            bytes memory data =
                abi.encodeCall(this.checkState, (amounts[digits[0]], amounts[digits[1]], fees[digits[2]], state / 27));
            (, bytes memory reason) = address(this).call(data);
            assertSelector(bytes4(reason), Checked.selector);
            ++checked;
        }
        assertEq(checked, 216);
    }

    function checkState(uint256 one, uint256 other, uint16 feeBps, uint256 blocked) external {
        for (uint256 i = 0; i < 2; ++i) {
            terms[i] = termsOf(i);
            terms[i].feeBps = feeBps;
            inboxes[i] = hub.inboxOf(terms[i]);
            issuer.mint(inboxes[i], i == 0 ? one : other);
        }
        if (blocked & 1 != 0) issuer.setBlocked(payout, true);
        if (blocked & 2 != 0) issuer.setBlocked(feeRecipient, true);
        if (blocked & 4 != 0) issuer.setBlocked(inboxes[0], true);
        uint256 length = vm.envOr("EXHAUSTIVE_CALLS", uint256(1));
        for (uint256 sequence = 0; sequence < CALLS ** length; ++sequence) {
            (, bytes memory reason) =
                address(this).call(abi.encodeCall(this.checkSequence, (sequence, length, blocked)));
            if (bytes4(reason) != Checked.selector) revert NotEqual(sequence, blocked);
        }
        revert Checked();
    }

    function checkSequence(uint256 sequence, uint256 length, uint256 blocked) external {
        for (uint256 i = 0; i < length; ++i) {
            uint256 choice = sequence % CALLS;
            sequence /= CALLS;
            State memory before = read();
            (bool done,) = perform(choice);
            State memory then = read();
            checkStep(before, then, choice, blocked);
            if (!done) assertEq(keccak256(abi.encode(before)), keccak256(abi.encode(then)));
            perform(choice);
            assertEq(keccak256(abi.encode(then)), keccak256(abi.encode(read())));
        }
        revert Checked();
    }

    function perform(uint256 choice) private returns (bool done, bytes memory answer) {
        Terms[] memory items = new Terms[](3);
        (items[0], items[1], items[2]) = (terms[0], terms[1], terms[0]);
        bytes32[] memory salts = new bytes32[](3);
        (salts[0], salts[1], salts[2]) = (terms[0].salt, terms[1].salt, terms[0].salt);
        bytes memory data = abi.encodeCall(IInboxHub.settle, (terms[choice % 2]));
        if (choice == 2) data = abi.encodeCall(IInboxHub.settleMany, (items, ITEM_GAS));
        if (choice == 3) data = abi.encodeCall(IInboxHub.settleNetted, (terms[0], salts, ITEM_GAS));
        if (choice == 4) data = abi.encodeCall(IInboxHub.receiveAndSettle, (stranger, "", "", terms[0]));
        if (choice > 4) data = abi.encodeCall(IInboxHub.rescue, (terms[0], address(token), safe));
        if (choice == 6) vm.warp(RECOVER_AFTER);
        vm.prank(choice == 6 ? recovery : stranger);
        (done, answer) = address(hub).call(data);
        if (choice == 6) vm.warp(RECOVER_AFTER - 1);
    }

    function checkStep(State memory before, State memory then, uint256 choice, uint256 blocked) private view {
        (uint256 one, uint256 other) = (before.one - then.one, before.other - then.other);
        assertTrue(one == 0 || one == before.one, "a part of the first inbox was moved");
        assertTrue(other == 0 || other == before.other, "a part of the second inbox was moved");
        assertEq(then.payout + then.fee + then.safe - before.payout - before.fee - before.safe, one + other);
        assertEq(then.safe - before.safe, choice == 6 ? one : 0);
        uint256 feeBps = terms[0].feeBps;
        uint256 fee = choice == 6 || blocked & 2 != 0 ? 0 : one * feeBps / 10_000 + other * feeBps / 10_000;
        assertEq(then.fee - before.fee, fee);
    }

    function read() private view returns (State memory state) {
        state = State({
            one: issuer.balanceOf(inboxes[0]),
            other: issuer.balanceOf(inboxes[1]),
            payout: issuer.balanceOf(payout),
            fee: issuer.balanceOf(feeRecipient),
            safe: issuer.balanceOf(safe)
        });
        assertEq(issuer.balanceOf(address(hub)) + issuer.balanceOf(stranger) + issuer.balanceOf(recovery), 0);
    }
}
