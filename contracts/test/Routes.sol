// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Route} from "../src/Terms.sol";

/// @notice The tree over routes, written a second time: pairs sorted, an odd last node carried up, no routes 0.
library Routes {
    function leafOf(Route memory route) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256(
                    abi.encode(route.chainId, route.token, route.adapter, route.minAmount, keccak256(route.config))
                )
            )
        );
    }

    function rootOf(Route[] memory routes) internal pure returns (bytes32) {
        bytes32[] memory level = leavesOf(routes);
        while (level.length > 1) level = parentsOf(level);
        return level.length == 0 ? bytes32(0) : level[0];
    }

    function proofOf(Route[] memory routes, uint256 index) internal pure returns (bytes32[] memory proof) {
        bytes32[] memory level = leavesOf(routes);
        bytes32[] memory longest = new bytes32[](32);
        uint256 count;
        while (level.length > 1) {
            uint256 sibling = index ^ 1;
            if (sibling < level.length) longest[count++] = level[sibling];
            level = parentsOf(level);
            index >>= 1;
        }
        proof = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            proof[i] = longest[i];
        }
    }

    function leavesOf(Route[] memory routes) private pure returns (bytes32[] memory leaves) {
        leaves = new bytes32[](routes.length);
        for (uint256 i = 0; i < routes.length; ++i) {
            leaves[i] = leafOf(routes[i]);
        }
    }

    function parentsOf(bytes32[] memory level) private pure returns (bytes32[] memory parents) {
        parents = new bytes32[]((level.length + 1) / 2);
        for (uint256 i = 0; i < parents.length; ++i) {
            (bytes32 left, bytes32 right) = (level[2 * i], 2 * i + 1 < level.length ? level[2 * i + 1] : bytes32(0));
            if (2 * i + 1 == level.length) parents[i] = left;
            else parents[i] = keccak256(left < right ? abi.encode(left, right) : abi.encode(right, left));
        }
    }
}
