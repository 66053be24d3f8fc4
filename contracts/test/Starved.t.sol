// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Payment} from "../src/Payment.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {BlockingToken, GasRecordingToken, HungryToken, SlowToken} from "./tokens/OddTokens.sol";

/// @dev The gas limit of a batch decides between a revert and one outcome, and nothing else.
contract StarvedTest is BaseTest {
    uint256 private constant UNITS = 10_000;

    function fundedItems(uint256 first, uint256 count) private returns (Terms[] memory items) {
        items = new Terms[](count);
        for (uint256 i = 0; i < count; ++i) {
            items[i] = termsOf(first + i);
            token.mint(hub.inboxOf(items[i]), UNITS);
        }
    }

    function saltsOf(Terms[] memory items) private pure returns (bytes32[] memory salts) {
        salts = new bytes32[](items.length);
        for (uint256 i = 0; i < items.length; ++i) {
            salts[i] = items[i].salt;
        }
    }

    function callWith(uint256 gasLimit, Terms[] memory items, bool netted, uint256 itemGas)
        private
        returns (bool done, bytes memory answer)
    {
        return address(hub).call{gas: gasLimit}(
            netted
                ? abi.encodeCall(IInboxHub.settleNetted, (termsOf(0), saltsOf(items), itemGas))
                : abi.encodeCall(IInboxHub.settleMany, (items, itemGas))
        );
    }

    /// @dev Every gas limit in steps up to the one that suffices for three new inboxes and a refused fee.
    function test_anyGasLimit_revertsOrDoesEverything() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        for (uint256 variant = 0; variant < 4; ++variant) {
            issuer.setBlocked(feeRecipient, variant % 2 == 1);
            (uint256 reverts, uint256 outcomes) = (0, 0);
            for (uint256 gasLimit = 21_000; gasLimit < 1_500_000; gasLimit += 12_000) {
                uint256 moved = token.balanceOf(payout) + token.balanceOf(feeRecipient);
                Terms[] memory items = fundedItems(variant << 64 | gasLimit, 3);
                (bool done, bytes memory answer) = callWith(gasLimit, items, variant > 1, ITEM_GAS);
                moved = token.balanceOf(payout) + token.balanceOf(feeRecipient) - moved;
                assertEq(moved, done ? 3 * UNITS : 0);
                if (done) assertEq(keccak256(answer), keccak256(abi.encode(new bytes4[](3))));
                done ? ++outcomes : ++reverts;
            }
            assertTrue(reverts > 20 && outcomes > 20, "the steps miss the point where gas runs dry");
        }
    }

    /// @dev Tokens that use nearly all that they get: whatever the limit, they get as much as ever.
    function test_anyGasLimit_givesAHungryItemItsGas(uint256 gasLimit, uint256 appetite, bool netted) public {
        HungryToken hungry = new HungryToken();
        token = hungry;
        hungry.setAppetite(netted ? address(hub) : payout, appetite % 300_000);
        Terms[] memory items = fundedItems(1, 2);
        (bool done,) = callWith(100_000 + gasLimit % 1_600_000, items, netted, ITEM_GAS);
        assertEq(token.balanceOf(payout), done ? 2 * 9_950 : 0);
    }

    function test_everyItemGetsExactlyItsGas() public {
        GasRecordingToken recording = new GasRecordingToken();
        token = recording;
        for (uint256 variant = 0; variant < 4; ++variant) {
            // With much gas for an item, the 64th part that a call keeps back is more than the reserve leaves over.
            uint256 itemGas = variant > 1 ? 12_000_000 : ITEM_GAS;
            uint256 expected = 0;
            uint256 outcomes = 0;
            for (uint256 i = 0; i < 60; ++i) {
                Terms[] memory items = fundedItems((variant << 64) + i * 2, 2);
                (bool done,) = callWith(itemGas + i * 20_000, items, variant % 2 == 1, itemGas);
                if (!done) continue;
                // The second item: by then every account that both use is warm.
                uint256 found = recording.gasOf(hub.inboxOf(items[1]));
                if (expected == 0) expected = found;
                assertEq(found, expected);
                ++outcomes;
            }
            assertTrue(outcomes > 20 && expected < itemGas, "nothing was measured");
        }
    }

    function test_aSlowBalanceIsReadAtAnyGasLimit() public {
        token = new SlowToken(96_000);
        for (uint256 gasLimit = 300_000; gasLimit < 2_400_000; gasLimit += 25_000) {
            Terms[] memory items = fundedItems(gasLimit, 2);
            (bool done, bytes memory answer) = callWith(gasLimit, items, false, ITEM_GAS);
            if (done) assertEq(keccak256(answer), keccak256(abi.encode(new bytes4[](2))));
        }
        token = new SlowToken(101_000);
        for (uint256 netted = 0; netted < 2; ++netted) {
            (bool answered, bytes memory failures) = callWith(30_000_000, fundedItems(1, 1), netted == 1, ITEM_GAS);
            assertTrue(answered, "an item stopped the batch");
            assertSelector(abi.decode(failures, (bytes4[]))[0], IInboxHub.BalanceUnreadable.selector);
        }
    }

    function test_reverts_namingTheItemThatCouldNotHaveItsGas() public {
        Terms[] memory items = fundedItems(0, 3);
        hub.settle(items[0]);
        bool[3] memory named;
        for (uint256 gasLimit = 640_000; gasLimit < 1_200_000; gasLimit += 2_000) {
            (bool done, bytes memory answer) = callWith(gasLimit, items, gasLimit % 4_000 == 0, ITEM_GAS);
            if (done) break;
            for (uint256 i = 0; i < 3; ++i) {
                bytes memory expected = abi.encodeWithSelector(IInboxHub.Starved.selector, i);
                if (keccak256(answer) == keccak256(expected)) named[i] = true;
            }
        }
        assertTrue(named[0] && named[1] && named[2], "an item was never named");
    }

    /// @dev Even for an inbox that holds nothing: whether it does is known only after the check.
    function test_reverts_whenAnEmptyItemCouldNotHaveItsGas() public {
        Terms[] memory items = new Terms[](1);
        items[0] = termsOf(5);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.Starved.selector, 0));
        hub.settleMany{gas: 600_000}(items, ITEM_GAS);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.Starved.selector, 0));
        hub.settleNetted{gas: 600_000}(termsOf(0), saltsOf(items), ITEM_GAS);
    }

    function test_reverts_whenNoGasCouldSuffice() public {
        Terms[] memory items = fundedItems(0, 1);
        uint256[3] memory itemGas = [type(uint256).max, type(uint256).max / 64 * 63, type(uint256).max - 160_000];
        for (uint256 i = 0; i < itemGas.length; ++i) {
            (bool done,) = callWith(gasleft() / 2, items, false, itemGas[i]);
            assertTrue(!done, "settled with gas that does not exist");
            (done,) = callWith(gasleft() / 2, items, true, itemGas[i]);
            assertTrue(!done, "settled with gas that does not exist");
        }
        assertEq(token.balanceOf(hub.inboxOf(items[0])), UNITS);
    }

    /// @dev Anyone can ask for too little: nothing moves, and no fee is forfeited.
    function test_littleItemGas_failsItemsAndForfeitsNoFee(uint256 itemGas) public {
        Terms[] memory items = fundedItems(0, 2);
        itemGas = itemGas % 200_000;
        (bool done, bytes memory answer) = callWith(30_000_000, items, false, itemGas);
        assertTrue(done, "reverted for an item");
        bytes4[] memory failures = abi.decode(answer, (bytes4[]));
        uint256 paid = (failures[0] == 0 ? 1 : 0) + (failures[1] == 0 ? 1 : 0);
        assertEq(token.balanceOf(payout), paid * 9_950);
        assertEq(token.balanceOf(feeRecipient), paid * 50);
    }

    function test_refusedFeeWithLittleItemGas_isReported() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        issuer.setBlocked(feeRecipient, true);
        Terms[] memory items = fundedItems(0, 1);
        assertSelector(hub.settleMany(items, 200_000)[0], Payment.FeeLegStarved.selector);
        assertEq(token.balanceOf(hub.inboxOf(items[0])), UNITS);
        assertSelector(hub.settleMany(items, ITEM_GAS)[0], bytes4(0));
        assertEq(token.balanceOf(payout), UNITS);
    }
}
