// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Payment} from "../src/Payment.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {BlockingToken, BombToken, UnreadableToken} from "./tokens/OddTokens.sol";

contract SettleManyTest is BaseTest {
    event SettleFailed(address indexed inbox, bytes4 reason);

    /// @dev Terms of intents 0 … count − 1, each with `10_000 + its number` units in its inbox.
    function fundedMany(uint256 count) private returns (Terms[] memory items) {
        items = new Terms[](count);
        for (uint256 i = 0; i < count; ++i) {
            items[i] = termsOf(i);
            token.mint(hub.inboxOf(items[i]), 10_000 + i);
        }
    }

    function test_paysEveryItemAsIfAlone(uint64[7] memory amounts, uint16 feeBps) public {
        Terms[] memory items = new Terms[](amounts.length);
        (uint256 grossSum, uint256 feeSum) = (0, 0);
        for (uint256 i = 0; i < amounts.length; ++i) {
            items[i] = termsOf(i);
            items[i].feeBps = feeBps % 1_001;
            token.mint(hub.inboxOf(items[i]), amounts[i]);
            grossSum += amounts[i];
            feeSum += uint256(amounts[i]) * items[i].feeBps / 10_000;
        }
        hub.settleMany(items, ITEM_GAS);
        assertEq(token.balanceOf(feeRecipient), feeSum);
        assertEq(token.balanceOf(payout), grossSum - feeSum);
    }

    function test_tellsOneSettlementPerItem() public {
        Terms[] memory items = fundedMany(5);
        vm.recordLogs();
        hub.settleMany(items, ITEM_GAS);
        assertEq(countLogs(IInboxHub.Settled.selector), 5);
    }

    function test_oneBlockedPayoutOfMany_isReportedAndTouchesNobody() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        Terms[] memory items = new Terms[](100);
        for (uint256 i = 0; i < items.length; ++i) {
            items[i] = termsOf(i);
            items[i].payout = vm.addr(1_000 + i);
            issuer.mint(hub.inboxOf(items[i]), 10_000);
        }
        issuer.setBlocked(items[42].payout, true);
        vm.expectEmit(address(hub));
        emit SettleFailed(hub.inboxOf(items[42]), Payment.PayoutFailed.selector);
        bytes4[] memory failures = hub.settleMany(items, ITEM_GAS);
        for (uint256 i = 0; i < items.length; ++i) {
            bool blocked = i == 42;
            assertSelector(failures[i], blocked ? Payment.PayoutFailed.selector : bytes4(0));
            assertEq(issuer.balanceOf(items[i].payout), blocked ? 0 : 9_950);
            assertEq(issuer.balanceOf(hub.inboxOf(items[i])), blocked ? 10_000 : 0);
        }
        assertEq(issuer.balanceOf(feeRecipient), 99 * 50);
    }

    function test_everyKindOfFailure_isNamedAndIsolated() public {
        BombToken bomb = new BombToken();
        bomb.setBlocked(payout, true);
        Terms[] memory items = fundedMany(6);
        items[1].settleChainId += 1;
        items[2].feeBps = 1_001;
        items[3].settleToken = address(new UnreadableToken());
        items[4].settleToken = address(bomb);
        bomb.mint(hub.inboxOf(items[4]), 10_000);
        bytes4[6] memory expected = [
            bytes4(0),
            IInboxHub.WrongChain.selector,
            IInboxHub.FeeTooHigh.selector,
            IInboxHub.BalanceUnreadable.selector,
            Payment.PayoutFailed.selector,
            bytes4(0)
        ];
        vm.recordLogs();
        bytes4[] memory failures = hub.settleMany(items, ITEM_GAS);
        for (uint256 i = 0; i < expected.length; ++i) {
            assertSelector(failures[i], expected[i]);
        }
        assertEq(countLogs(IInboxHub.SettleFailed.selector), 4);
        assertEq(token.balanceOf(payout), 10_000 + 10_005 - 100);
    }

    function test_theSameInboxTwice_isPaidOnce() public {
        Terms[] memory items = new Terms[](2);
        (items[0], items[1]) = (funded(10_000), termsOf(0));
        vm.recordLogs();
        hub.settleMany(items, ITEM_GAS);
        assertEq(countLogs(IInboxHub.Settled.selector), 1);
        assertEq(token.balanceOf(payout), 9_950);
    }

    function test_emptyInboxes_areNeitherCreatedNorReported() public {
        Terms[] memory items = new Terms[](2);
        (items[0], items[1]) = (termsOf(0), termsOf(1));
        vm.recordLogs();
        hub.settleMany(items, ITEM_GAS);
        assertEq(vm.getRecordedLogs().length, 0);
        assertEq(hub.inboxOf(items[0]).code.length, 0);
    }

    function test_nativeCoin_isSettledAlone() public {
        Terms[] memory items = new Terms[](2);
        (items[0], items[1]) = (termsOf(1), funded(10_000));
        items[0].settleToken = address(0);
        vm.deal(hub.inboxOf(items[0]), 1 ether);
        bytes4[] memory failures = hub.settleMany(items, ITEM_GAS);
        assertSelector(failures[0], IInboxHub.NativeNotBatched.selector);
        assertSelector(failures[1], bytes4(0));
        assertEq(hub.inboxOf(items[0]).balance, 1 ether);
        assertEq(token.balanceOf(payout), 9_950);
        hub.settle(items[0]);
        assertEq(payout.balance, 0.995 ether);
    }

    /// @dev Each word of the terms with its upper bits set: it is the item's own failure, and alone it reverts.
    function test_dirtyWords_areReportedAndTouchNobody() public {
        uint256[7] memory words = [uint256(1), 2, 3, 4, 5, 6, 7];
        uint256[7] memory bits = [uint256(64), 160, 160, 160, 16, 160, 48];
        for (uint256 i = 0; i < words.length; ++i) {
            for (uint256 shift = bits[i]; shift < 256; shift += 255 - bits[i]) {
                bytes memory dirty = abi.encode(termsOf(0));
                uint256 at = 0x20 * (words[i] + 1);
                assembly {
                    mstore(add(dirty, at), or(mload(add(dirty, at)), shl(shift, 1)))
                }
                token.mint(hub.inboxOf(termsOf(i)), 10_000);
                bytes memory data = abi.encodePacked(
                    IInboxHub.settleMany.selector, abi.encode(64, ITEM_GAS, 2), dirty, abi.encode(termsOf(i))
                );
                (bool done, bytes memory answer) = address(hub).call(data);
                assertTrue(done, "an item stopped the batch");
                bytes4[] memory failures = abi.decode(answer, (bytes4[]));
                assertSelector(failures[0], IInboxHub.MalformedTerms.selector);
                assertSelector(failures[1], bytes4(0));
                (done,) = address(hub).call(abi.encodePacked(IInboxHub.settle.selector, dirty));
                assertTrue(!done, "settled");
            }
        }
    }

    function test_noItems() public {
        assertEq(hub.settleMany(new Terms[](0), ITEM_GAS).length, 0);
    }
}
