// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../../src/IInboxHub.sol";
import {Inbox} from "../../src/Inbox.sol";
import {Route, Terms} from "../../src/Terms.sol";
import {PlainToken} from "../tokens/PlainToken.sol";
import {WireAdapter} from "./WireAdapter.sol";

/// @notice Leaves a unit behind.
contract LazyAdapter is WireAdapter {
    function bridge(Terms calldata, Route calldata route, uint256 units, bytes calldata) external override {
        wire(route, units - 1);
    }
}

/// @notice Sends a unit more than it was told to, when there is one.
contract EagerAdapter is WireAdapter {
    function bridge(Terms calldata, Route calldata route, uint256 units, bytes calldata) external override {
        wire(route, units + 1);
    }
}

/// @notice Calls back into the hub in whatever way the config's limit picks, and keeps the hub's answer.
contract CallingAdapter is WireAdapter {
    event Answered(bytes4 reason);

    function unitsMax(Route calldata) public pure override returns (uint256) {
        return type(uint256).max;
    }

    function bridge(Terms calldata terms, Route calldata route, uint256 units, bytes calldata quote) external override {
        (bool done, bytes memory answer) = msg.sender.call(callOf(terms, route, configOf(route).limit, quote));
        require(!done, "the hub let itself be called");
        emit Answered(bytes4(answer));
        wire(route, units);
    }

    function callOf(Terms calldata terms, Route calldata route, uint256 choice, bytes calldata quote)
        private
        view
        returns (bytes memory)
    {
        bytes32[] memory words = new bytes32[](0);
        if (choice == 0) return abi.encodeCall(IInboxHub.settle, (terms));
        if (choice == 1) return abi.encodeCall(IInboxHub.settleMany, (new Terms[](0), 500_000));
        if (choice == 2) return abi.encodeCall(IInboxHub.settleNetted, (terms, words, 500_000));
        if (choice == 3) return abi.encodeCall(IInboxHub.bridge, (terms, route, words, quote));
        if (choice == 4) return abi.encodeCall(IInboxHub.receiveAndSettle, (address(this), "", "", terms));
        return abi.encodeCall(IInboxHub.rescue, (terms, route.token, address(this)));
    }
}

/// @notice Runs as its owner's inbox and tries to command the inbox that its config names, in every way an inbox knows.
contract ReachingAdapter is WireAdapter {
    event Tried(bool done);

    function unitsMax(Route calldata) public pure override returns (uint256) {
        return type(uint256).max;
    }

    function bridge(Terms calldata terms, Route calldata route, uint256, bytes calldata) external override {
        (address victim, address thief) = abi.decode(route.config, (address, address));
        bytes[3] memory calls = [
            abi.encodeCall(Inbox.send, (route.token, thief, 1)),
            abi.encodeCall(Inbox.distribute, (route.token, thief, 1, thief, 0)),
            abi.encodeCall(Inbox.bridge, (terms, route, 1, ""))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool done,) = victim.call(calls[i]);
            emit Tried(done);
        }
        require(PlainToken(route.token).transfer(thief, PlainToken(route.token).balanceOf(address(this))), "not sent");
    }
}
