// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Clone} from "../src/Clone.sol";
import {Terms} from "../src/Terms.sol";
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
