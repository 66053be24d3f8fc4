// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Anyone} from "./Anyone.sol";

/// @dev What holds after every sequence of calls that anyone makes.
contract InvariantsTest {
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    Anyone private anyone;

    error Broken(string what, uint256 merchant, uint256 token, uint256 actual, uint256 expected);

    function setUp() public {
        anyone = new Anyone();
        anyone.begin();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(anyone);
    }

    function targetSelectors() external view returns (FuzzSelector[] memory targets) {
        bytes4[16] memory all = [
            Anyone.switchChain.selector,
            Anyone.wait.selector,
            Anyone.deposit.selector,
            Anyone.deposit.selector,
            Anyone.depositToTheHub.selector,
            Anyone.block_.selector,
            Anyone.settle.selector,
            Anyone.settleMany.selector,
            Anyone.settleNetted.selector,
            Anyone.bridge.selector,
            Anyone.bridgeByAnotherRoute.selector,
            Anyone.receiveAndSettle.selector,
            Anyone.receiveFromAThief.selector,
            Anyone.relay.selector,
            Anyone.rescue.selector,
            Anyone.useForgedTerms.selector
        ];
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(anyone), new bytes4[](all.length + 1));
        for (uint256 i = 0; i < all.length; ++i) {
            targets[0].selectors[i] = all[i];
        }
        targets[0].selectors[all.length] = Anyone.callAnInbox.selector;
    }

    /// @dev Whatever goes wrong stays wrong, so a part is looked at after each call, and everything at the end.
    function invariant_nothingIsStolen() public view {
        uint256 steps = anyone.steps();
        lookAt(steps % anyone.MERCHANTS(), steps / anyone.MERCHANTS() % anyone.TOKENS());
    }

    /// @dev Random sequences prove nothing when they move nothing: one of moderate length brings money by every way there is.
    function test_theSequencesReachEveryWay() public {
        for (uint256 i = 0; i < 3_000; ++i) {
            uint256 seed = uint256(keccak256(abi.encode(i)));
            step(seed % 10, seed >> 16, seed >> 64, seed >> 128);
        }
        afterInvariant();
        require(anyone.burnt(0, 1) > 0 && anyone.burnt(2, 1) > 0, "nothing was burned");
        require(anyone.minted() > 0, "nothing was minted");
        require(anyone.wiredOf(0, 2) > 0 && anyone.wiredOf(2, 4) > 0, "nothing was wired");
        for (uint256 merchant = 0; merchant < 2; ++merchant) {
            uint256 token = merchant == 0 ? 0 : 3;
            require(anyone.balanceOf(token, anyone.payoutOf(merchant)) > 0, "nothing was paid out");
            require(anyone.balanceOf(token, anyone.feeRecipientOf(merchant)) > 0, "no fee was paid");
            require(anyone.balanceOf(2, anyone.safeOf(merchant)) > 0, "nothing was rescued");
        }
        require(anyone.balanceOf(1, anyone.feeRecipientOf(2)) == 0, "a fee was taken before a Solana payout");
    }

    function step(uint256 choice, uint256 one, uint256 two, uint256 three) private {
        if (choice < 3) anyone.deposit(one, two, choice == 0 ? one / 3 % 2 : three, uint64(two));
        if (choice == 3) anyone.switchChain();
        if (choice == 4) anyone.bridge(one, two, three, "", 1);
        if (choice == 5) anyone.receiveAndSettle(one, two, three, one, 1);
        if (choice == 6) anyone.rescue(one, two, three, 6, 1);
        if (choice == 7) anyone.settleMany(one, two, 1);
        if (choice == 8) anyone.settleNetted(one, two, three, 1);
        if (choice == 9 && two % 4 == 0) anyone.wait(three);
        else if (choice == 9) anyone.settle(one, two, 1);
    }

    function afterInvariant() public view {
        for (uint256 merchant = 0; merchant < anyone.MERCHANTS(); ++merchant) {
            for (uint256 token = 0; token < anyone.TOKENS(); ++token) {
                lookAt(merchant, token);
            }
        }
        inboxesAreClonesOrNothing();
    }

    function lookAt(uint256 merchant, uint256 token) private view {
        everyUnitIsWhereItMayBe(merchant, token);
        theFeeIsWhatWasAgreed(merchant, token);
        hubAndAdaptersHoldNothing(token);
    }

    /// @dev What came in is still there, or was paid, or is on its way to the same inbox, or was rescued by the recovery.
    function everyUnitIsWhereItMayBe(uint256 merchant, uint256 token) private view {
        uint256 found = anyone.heldOf(merchant, token) + anyone.balanceOf(token, anyone.payoutOf(merchant))
            + anyone.balanceOf(token, anyone.feeRecipientOf(merchant))
            + anyone.balanceOf(token, anyone.safeOf(merchant)) + anyone.burnt(merchant, token)
            + anyone.wiredOf(merchant, token);
        check("units", merchant, token, found, anyone.deposited(merchant, token));
    }

    /// @dev The fee is a share of what was paid, rounded down once for each settlement, and nothing but a refusal lowers it.
    function theFeeIsWhatWasAgreed(uint256 merchant, uint256 token) private view {
        uint256 fee = anyone.balanceOf(token, anyone.feeRecipientOf(merchant));
        uint256 base = anyone.balanceOf(token, anyone.payoutOf(merchant)) + fee;
        uint256 share = base * anyone.feeBpsOf(merchant) / 10_000;
        if (fee > share) check("fee above its share", merchant, token, fee, share);
        if (anyone.feeWasRefused(merchant)) return;
        uint256 rounding = anyone.settlements(merchant, token);
        if (fee + rounding < share) check("fee below its share", merchant, token, fee, share);
    }

    function hubAndAdaptersHoldNothing(uint256 token) private view {
        check("hub", 0, token, anyone.balanceOf(token, address(anyone.theHub())), anyone.donated(token));
        for (uint256 i = 0; i < 2; ++i) {
            check("adapter", i, token, anyone.balanceOf(token, anyone.theAdapters()[i]), 0);
        }
    }

    function inboxesAreClonesOrNothing() private view {
        for (uint256 i = 0; i < 12; ++i) {
            uint256 size = anyone.inboxAt(i / 4, i % 4).code.length;
            if (size != 0) check("code", i / 4, i % 4, size, 42);
        }
    }

    function check(string memory what, uint256 merchant, uint256 token, uint256 actual, uint256 expected) private pure {
        if (actual != expected) revert Broken(what, merchant, token, actual, expected);
    }
}
