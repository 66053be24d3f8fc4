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
        uint256 step = anyone.steps();
        lookAt(step % anyone.MERCHANTS(), step / anyone.MERCHANTS() % anyone.TOKENS());
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
        if (merchant == 2) base += anyone.burnt(2, token) + anyone.wiredOf(2, token);
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
            if (size != 0) check("code", i / 4, i % 4, size, 45);
        }
    }

    function check(string memory what, uint256 merchant, uint256 token, uint256 actual, uint256 expected) private pure {
        if (actual != expected) revert Broken(what, merchant, token, actual, expected);
    }
}
