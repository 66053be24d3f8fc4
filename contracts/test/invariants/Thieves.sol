// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAdapter} from "../../src/IAdapter.sol";
import {IInboxHub} from "../../src/IInboxHub.sol";
import {Route, Terms} from "../../src/Terms.sol";
import {PlainToken} from "../tokens/PlainToken.sol";

/// @notice Pays whoever its config names. No honest route names it.
contract ThiefAdapter is IAdapter {
    function unitsMax(Route calldata) external pure returns (uint256) {
        return type(uint256).max;
    }

    function bridge(Terms calldata, Route calldata route, uint256 units, bytes calldata) external {
        address thief = address(uint160(uint256(bytes32(route.config))));
        if (route.token == address(0)) payable(thief).transfer(units);
        else require(PlainToken(route.token).transfer(thief, units), "not sent");
    }
}

/// @notice Calls the hub back in the middle of receiving, in every way it knows, and says that all went well.
contract ThiefTransmitter {
    IInboxHub private hub;
    Terms private terms;
    Route private route;
    uint256 private choice;

    function aim(IInboxHub hub_, Terms calldata terms_, Route calldata route_, uint256 choice_) external {
        (hub, terms, route, choice) = (hub_, terms_, route_, choice_);
    }

    function receiveMessage(bytes calldata, bytes calldata) external returns (bool) {
        Terms[] memory items = new Terms[](1);
        items[0] = terms;
        bytes32[] memory salts = new bytes32[](1);
        salts[0] = terms.salt;
        bytes[6] memory calls = [
            abi.encodeCall(IInboxHub.settle, (terms)),
            abi.encodeCall(IInboxHub.settleMany, (items, 500_000)),
            abi.encodeCall(IInboxHub.settleNetted, (terms, salts, 500_000)),
            abi.encodeCall(IInboxHub.bridge, (terms, route, new bytes32[](0), "")),
            abi.encodeCall(IInboxHub.receiveAndSettle, (address(this), "", "", terms)),
            abi.encodeCall(IInboxHub.rescue, (terms, route.token, address(this)))
        ];
        (bool done,) = address(hub).call(calls[choice % calls.length]);
        require(!done, "the hub let itself be called");
        return true;
    }
}
