// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {FiatToken, FiatTokenDeployer} from "./FiatToken.sol";

/// @dev Batches in Circle's own token at gas limits up to the block's: the outcome is a revert or the one at the highest
/// limit, never between. The number of limits is set by GAS_LIMIT_STEPS.
contract GasLimitsTest is BaseTest {
    uint256 private constant UNITS = 1_000_000;
    uint256 private constant LIMIT_MIN = 21_000;
    /// @dev Of the largest blocks of a chain in use.
    uint256 private constant LIMIT_MAX = 36_000_000;
    uint256 private constant STEPS_MAX = 2_000;

    FiatToken private usdc;

    /// @dev What a call with one gas limit did.
    error Outcome(bool done, uint256 paid, uint256 fees, uint256 left, bytes32 answer);

    function setUp() public override {
        super.setUp();
        usdc = FiatTokenDeployer.deploy(vm.addr(98));
    }

    /// @dev New inboxes and such that exist, in turn, and one with a payout of its own that is blocked.
    function fundedItems(uint256 count) private returns (Terms[] memory items) {
        items = new Terms[](count);
        for (uint256 i = 0; i < count; ++i) {
            items[i] = termsOf(i);
            items[i].settleToken = address(usdc);
            if (i == 7) items[i].payout = stranger;
            address inbox = hub.inboxOf(items[i]);
            usdc.mint(inbox, UNITS);
            if (i % 2 == 1) {
                hub.settle(items[i]);
                usdc.mint(inbox, UNITS);
            }
        }
        if (count > 7) usdc.blacklist(stranger);
    }

    function left(Terms[] memory items) private view returns (uint256 units) {
        for (uint256 i = 0; i < items.length; ++i) {
            units += usdc.balanceOf(hub.inboxOf(items[i]));
        }
    }

    /// @dev Reverts always, with the outcome, so that every limit begins in the same state.
    function attempt(bytes calldata data, uint256 gasLimit, Terms[] calldata items) external {
        (bool done, bytes memory answer) = address(hub).call{gas: gasLimit}(data);
        bytes32 hash = done ? keccak256(answer) : bytes32(0);
        revert Outcome(done, usdc.balanceOf(payout), usdc.balanceOf(feeRecipient), left(items), hash);
    }

    function outcomeOf(bytes memory data, uint256 gasLimit, Terms[] memory items)
        private
        returns (bytes memory outcome)
    {
        (, outcome) = address(this).call(abi.encodeCall(this.attempt, (data, gasLimit, items)));
        assertSelector(bytes4(outcome), Outcome.selector);
    }

    function sweep(uint256 count, bool feeIsBlocked, bool netted) private {
        Terms[] memory items = fundedItems(count);
        if (feeIsBlocked) usdc.blacklist(feeRecipient);
        bytes32[] memory salts = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            salts[i] = items[i].salt;
        }
        bytes memory data = netted
            ? abi.encodeCall(IInboxHub.settleNetted, (items[0], salts, ITEM_GAS))
            : abi.encodeCall(IInboxHub.settleMany, (items, ITEM_GAS));
        bytes32 full = keccak256(outcomeOf(data, LIMIT_MAX, items));
        bytes32 nothing = keccak256(outcomeOf(data, LIMIT_MIN, items));
        assertTrue(full != nothing, "the highest limit does not suffice");
        uint256 steps = vm.envOr("GAS_LIMIT_STEPS", uint256(40));
        bool reached = false;
        for (uint256 i = 0; i < steps; ++i) {
            // The first steps are as narrow as those of all steps: what matters happens at low limits too.
            uint256 limit = LIMIT_MIN + (LIMIT_MAX - LIMIT_MIN) * i * i / (steps * steps);
            if (steps == STEPS_MAX) limit = LIMIT_MIN + (LIMIT_MAX - LIMIT_MIN) * i / STEPS_MAX;
            bytes32 found = keccak256(outcomeOf(data, limit, items));
            assertTrue(found == full || found == nothing, "an outcome between");
            assertTrue(!reached || found == full, "a higher limit settles less");
            reached = found == full;
        }
        assertTrue(reached, "no limit sufficed");
    }

    function test_batchOf1() public {
        sweep(1, false, false);
    }

    function test_batchOf1_feeWalletBlocked() public {
        sweep(1, true, false);
    }

    function test_batchOf2() public {
        sweep(2, false, false);
    }

    function test_batchOf2_feeWalletBlocked() public {
        sweep(2, true, false);
    }

    function test_batchOf10() public {
        sweep(10, false, false);
    }

    function test_batchOf10_feeWalletBlocked() public {
        sweep(10, true, false);
    }

    function test_batchOf100() public {
        sweep(100, false, false);
    }

    function test_batchOf100_feeWalletBlocked() public {
        sweep(100, true, false);
    }

    function test_nettedBatchOf10() public {
        sweep(10, false, true);
    }

    function test_nettedBatchOf10_feeWalletBlocked() public {
        sweep(10, true, true);
    }

    function test_nettedBatchOf100_feeWalletBlocked() public {
        sweep(100, true, true);
    }
}
