// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";

/// @dev Whoever is not `recovery` may call whatever they like: no unit ever moves to anywhere but payout and fee
/// recipient.
contract ThiefTest is BaseTest {
    uint256 private constant UNITS = 1_000_000;
    uint256 private constant FEE = 5_000;

    modifier nothingIsStolen() {
        Terms memory terms = funded(UNITS);
        hub.settle(terms);
        token.mint(hub.inboxOf(terms), UNITS);
        _;
        uint256 left = token.balanceOf(hub.inboxOf(terms));
        assertTrue(left == 0 || left == UNITS, "a part was moved");
        assertEq(token.balanceOf(payout), (left == 0 ? 2 : 1) * (UNITS - FEE));
        assertEq(token.balanceOf(feeRecipient), (left == 0 ? 2 : 1) * FEE);
    }

    function attempt(address target, bytes memory data) private {
        vm.prank(stranger);
        (bool done,) = target.call(data);
        done;
    }

    function test_withAnyData(bytes calldata data) public nothingIsStolen {
        attempt(address(hub), data);
        attempt(hub.inboxOf(termsOf(0)), data);
    }

    function test_withCommandsToTheInboxAndTheHub(address to, uint256 units) public nothingIsStolen {
        address[2] memory targets = [address(hub), hub.inboxOf(termsOf(0))];
        for (uint256 i = 0; i < targets.length; ++i) {
            attempt(targets[i], abi.encodeWithSignature("send(address,address,uint256)", token, to, units));
            attempt(targets[i], abi.encodeWithSignature("send(address,address,uint256)", token, to, UNITS));
            attempt(
                targets[i],
                abi.encodeWithSignature(
                    "distribute(address,address,uint256,address,uint256)",
                    token,
                    to,
                    UNITS - units % UNITS,
                    to,
                    units % UNITS
                )
            );
        }
    }

    function test_withTermsOfTheirOwn(Terms memory terms, bytes32[] memory salts) public nothingIsStolen {
        terms.recovery = stranger;
        attemptAll(terms, salts);
    }

    /// @dev The inbox's own terms with one field exchanged, salt included.
    function test_withOneTermExchanged(uint256 choice, uint256 value) public nothingIsStolen {
        Terms memory terms = termsOf(0);
        bytes32[] memory salts = new bytes32[](1);
        salts[0] = terms.salt;
        bytes memory encoded = abi.encode(terms);
        uint256 word = choice % 9;
        assembly {
            mstore(add(encoded, add(0x20, mul(0x20, word))), value)
        }
        attempt(address(hub), abi.encodePacked(IInboxHub.settle.selector, encoded));
        attempt(address(hub), abi.encodePacked(IInboxHub.rescue.selector, encoded, abi.encode(token, stranger)));
        attempt(
            address(hub),
            abi.encodePacked(
                IInboxHub.settleNetted.selector, encoded, abi.encode(uint256(352), ITEM_GAS, uint256(1), salts[0])
            )
        );
        attempt(
            address(hub),
            abi.encodePacked(IInboxHub.settleMany.selector, abi.encode(uint256(64), ITEM_GAS, uint256(1)), encoded)
        );
    }

    /// @dev All calls with the true terms: they can only settle.
    function test_withTheTrueTerms(uint48 timestamp, uint64 chainId) public nothingIsStolen {
        bytes32[] memory salts = new bytes32[](1);
        salts[0] = termsOf(0).salt;
        Terms memory terms = termsOf(0);
        uint256 home = block.chainid;
        vm.warp(timestamp);
        vm.chainId(uint256(chainId) % type(uint32).max + 1);
        attemptAll(terms, salts);
        vm.chainId(home);
    }

    function attemptAll(Terms memory terms, bytes32[] memory salts) private {
        Terms[] memory items = new Terms[](2);
        (items[0], items[1]) = (terms, terms);
        attempt(address(hub), abi.encodeCall(IInboxHub.rescue, (terms, address(token), stranger)));
        attempt(address(hub), abi.encodeCall(IInboxHub.settleNetted, (terms, salts, ITEM_GAS)));
        attempt(address(hub), abi.encodeCall(IInboxHub.settle, (terms)));
        attempt(address(hub), abi.encodeCall(IInboxHub.settleMany, (items, ITEM_GAS)));
    }
}
