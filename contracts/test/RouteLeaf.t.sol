// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Route, RouteLib} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";

contract RouteLeafTest is BaseTest {
    using RouteLib for Route;

    function leaf(Route calldata route) external pure returns (bytes32) {
        return route.leaf();
    }

    /// @dev The same value stands in packages/inbox/vectors.json.
    function test_isTheFrozenOne() public view {
        Route memory route = Route({
            chainId: 8_453,
            token: 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913,
            adapter: 0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d,
            minAmount: 1_000_000,
            config: hex"010203"
        });
        assertEq(this.leaf(route), bytes32(0xf0be1975a8ec137c94136e91ff48f728121769ca39a63ab93ef3b20468d2ddec));
    }

    function test_isHashedTwice(Route calldata route) public view {
        bytes memory words =
            abi.encode(route.chainId, route.token, route.adapter, route.minAmount, keccak256(route.config));
        assertEq(this.leaf(route), keccak256(abi.encode(keccak256(words))));
    }
}
