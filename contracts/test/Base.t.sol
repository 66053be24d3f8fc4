// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Terms} from "../src/Terms.sol";
import {PlainToken} from "./tokens/PlainToken.sol";
import {Log, Vm} from "./Vm.sol";

/// @notice A hub, a token and one set of terms, which every test starts from.
abstract contract BaseTest {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint48 internal constant RECOVER_AFTER = 1_800_000_000;
    /// @dev Enough for every token here to pay a payout and to refuse a fee.
    uint256 internal constant ITEM_GAS = 500_000;

    IInboxHub internal hub = deployHub();
    PlainToken internal token = new PlainToken();
    address internal payout = vm.addr(1);
    address internal feeRecipient = vm.addr(2);
    address internal recovery = vm.addr(3);
    address internal stranger = vm.addr(4);

    error NotEqual(uint256 actual, uint256 expected);
    error NotTrue(string claim);

    /// @dev Test contracts begin some time before the recovery date.
    function setUp() public virtual {
        vm.warp(RECOVER_AFTER - 180 days);
    }

    function deployHub() internal returns (IInboxHub) {
        return deployHubAt(address(0xc0ffee));
    }

    /// @dev Created from its artifact: the hub is compiled as it is published, the tests as fast as can be. Its address must
    /// begin with zero bytes, so the creation code runs at an address of the test's choice.
    function deployHubAt(address place) internal returns (IInboxHub) {
        vm.etch(place, vm.getCode("InboxHub.sol:InboxHub"));
        (bool created, bytes memory code) = place.call("");
        assertTrue(created, "the hub was not created");
        vm.etch(place, code);
        return IInboxHub(place);
    }

    /// @dev Terms of the intent with this number: 50 bps, paid out in the plain token on this chain.
    function termsOf(uint256 intent) internal view returns (Terms memory) {
        return Terms({
            salt: keccak256(abi.encode(intent)),
            settleChainId: uint64(block.chainid),
            settleToken: address(token),
            payout: payout,
            feeRecipient: feeRecipient,
            feeBps: 50,
            recovery: recovery,
            recoverAfter: RECOVER_AFTER,
            routesRoot: 0
        });
    }

    /// @dev Terms of the first intent whose inbox has received `units`.
    function funded(uint256 units) internal returns (Terms memory terms) {
        terms = termsOf(0);
        token.mint(hub.inboxOf(terms), units);
    }

    function countLogs(bytes32 topic) internal returns (uint256 count) {
        Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(hub) && logs[i].topics[0] == topic) ++count;
        }
    }

    function assertEq(uint256 actual, uint256 expected) internal pure {
        if (actual != expected) revert NotEqual(actual, expected);
    }

    function assertEq(address actual, address expected) internal pure {
        assertEq(uint160(actual), uint160(expected));
    }

    function assertEq(bytes32 actual, bytes32 expected) internal pure {
        assertEq(uint256(actual), uint256(expected));
    }

    function assertSelector(bytes4 actual, bytes4 expected) internal pure {
        assertEq(uint32(actual), uint32(expected));
    }

    function assertTrue(bool condition, string memory claim) internal pure {
        if (!condition) revert NotTrue(claim);
    }
}
