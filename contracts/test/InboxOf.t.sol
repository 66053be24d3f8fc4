// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Clone} from "../src/Clone.sol";
import {IInboxHub} from "../src/IInboxHub.sol";
import {Route, Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";

contract InboxOfTest is BaseTest {
    function test_isTheCreate2AddressOfTheTerms(Terms memory terms) public view {
        bytes memory code = abi.encodePacked(
            hex"602a5f8160095f39f35f5f365f5f37365f70",
            uint136(uint160(address(hub))),
            hex"5af43d5f5f3e6026573d5ffd5b3d5ff3"
        );
        bytes32 digest =
            keccak256(abi.encodePacked(hex"ff", address(hub), keccak256(abi.encode(terms)), keccak256(code)));
        assertEq(hub.inboxOf(terms), address(uint160(uint256(digest))));
    }

    function test_theHubIsCreatedOnlyAtAnAddressThatBeginsWithZeros() public {
        vm.etch(stranger, vm.getCode("InboxHub.sol:InboxHub"));
        (bool created, bytes memory reason) = stranger.call("");
        assertTrue(!created, "created at an address that its inboxes cannot name");
        assertEq(keccak256(reason), keccak256(abi.encodeWithSelector(Clone.HubMisplaced.selector, stranger)));
    }

    function test_theHubTakesNoCoins_andAnInboxDoes() public {
        Terms memory terms = funded(100);
        hub.settle(terms);
        vm.deal(address(this), 2 ether);
        (bool taken,) = address(hub).call{value: 1 ether}("");
        assertTrue(!taken, "the hub took coins");
        (taken,) = hub.inboxOf(terms).call{value: 1 ether}("");
        assertTrue(taken, "an inbox refused coins");
    }

    /// @dev An inbox delegates to the hub's code, and may do nothing of its own accord.
    function test_anInboxIsNoHub() public {
        Terms memory terms = funded(100);
        hub.settle(terms);
        address inbox = hub.inboxOf(terms);
        bytes32 refused = keccak256(abi.encodeWithSignature("NotHub(address)", inbox));
        bytes[6] memory calls = [
            abi.encodeCall(IInboxHub.settle, (terms)),
            abi.encodeCall(IInboxHub.settleMany, (new Terms[](0), ITEM_GAS)),
            abi.encodeCall(IInboxHub.settleNetted, (terms, new bytes32[](0), ITEM_GAS)),
            abi.encodeCall(IInboxHub.receiveAndSettle, (stranger, "", "", terms)),
            abi.encodeCall(IInboxHub.bridge, (terms, Route(1, address(token), stranger, 0, ""), new bytes32[](0), "")),
            abi.encodeCall(IInboxHub.rescue, (terms, address(token), stranger))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            vm.prank(recovery);
            (bool done, bytes memory reason) = inbox.call(calls[i]);
            assertTrue(!done && keccak256(reason) == refused, "an inbox acted as the hub");
        }
        assertEq(IInboxHub(inbox).inboxOf(terms), inbox);
    }

    function test_everyFieldMovesTheAddress() public view {
        Terms[10] memory all;
        for (uint256 i = 0; i < all.length; ++i) {
            all[i] = termsOf(0);
        }
        all[1].salt = bytes32(uint256(1));
        all[2].settleChainId += 1;
        all[3].settleToken = stranger;
        all[4].payout = stranger;
        all[5].feeRecipient = stranger;
        all[6].feeBps += 1;
        all[7].recovery = stranger;
        all[8].recoverAfter += 1;
        all[9].routesRoot = bytes32(uint256(1));
        for (uint256 i = 0; i < all.length; ++i) {
            for (uint256 j = 0; j < i; ++j) {
                assertTrue(hub.inboxOf(all[i]) != hub.inboxOf(all[j]), "two terms, one address");
            }
        }
    }

    function test_clonesAre42BytesAndAnswerOnlyToTheHub() public {
        Terms memory terms = funded(100);
        hub.settle(terms);
        address inbox = hub.inboxOf(terms);
        assertEq(inbox.code.length, 42);
        bytes memory refused = abi.encodeWithSignature("NotHub(address)", address(this));
        (bool sent, bytes memory reason) =
            inbox.call(abi.encodeWithSignature("send(address,address,uint256)", address(token), stranger, 0));
        assertTrue(!sent && keccak256(reason) == keccak256(refused), "a stranger commanded an inbox");
        (sent, reason) = inbox.call(
            abi.encodeWithSignature(
                "distribute(address,address,uint256,address,uint256)", address(token), stranger, 0, stranger, 0
            )
        );
        assertTrue(!sent && keccak256(reason) == keccak256(refused), "a stranger commanded an inbox");
    }

    function test_twoHubsHaveDifferentInboxes() public {
        assertTrue(hub.inboxOf(termsOf(0)) != deployHubAt(address(0xbeef)).inboxOf(termsOf(0)), "hubs share an inbox");
    }
}
