// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAdapter} from "../../src/IAdapter.sol";
import {Route, Terms} from "../../src/Terms.sol";
import {Token} from "../../src/Token.sol";

/// @notice The other end of a bridge that is nothing but a safe: it notes for whom money came.
contract Wire {
    mapping(address inbox => mapping(address token => uint256 units)) public arrived;
    uint256 public calls;

    function note(address token, uint256 units) external {
        arrived[msg.sender][token] += units;
        ++calls;
    }

    receive() external payable {}
}

/// @notice Sends tokens, or the native coin, into the wire that the config names, a limited sum at a time.
contract WireAdapter is IAdapter {
    using Token for address;

    struct Config {
        Wire wire;
        uint256 limit;
    }

    error QuoteRefused(bytes quote);

    function unitsMax(Route calldata route) public view virtual returns (uint256) {
        return configOf(route).limit;
    }

    function bridge(Terms calldata, Route calldata route, uint256 units, bytes calldata quote) external virtual {
        if (quote.length == 13) revert QuoteRefused(quote);
        wire(route, units);
    }

    function wire(Route calldata route, uint256 units) internal {
        Wire to = configOf(route).wire;
        require(route.token.tryTransfer(address(to), units, gasleft()), "not sent");
        to.note(route.token, units);
    }

    function configOf(Route calldata route) internal pure returns (Config memory) {
        return abi.decode(route.config, (Config));
    }
}
