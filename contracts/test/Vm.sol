// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

struct Log {
    bytes32[] topics;
    bytes data;
    address emitter;
}

/// @notice The part of Foundry's cheat codes that the tests use.
interface Vm {
    function addr(uint256 key) external pure returns (address);
    function assume(bool condition) external pure;
    function chainId(uint256 id) external;
    function deal(address account, uint256 balance) external;
    function envOr(string calldata name, uint256 fallback_) external view returns (uint256);
    function etch(address account, bytes calldata code) external;
    function expectEmit(address emitter) external;
    function expectRevert(bytes4 selector) external;
    function expectRevert(bytes calldata reason) external;
    function expectPartialRevert(bytes4 selector) external;
    function getCode(string calldata artifact) external view returns (bytes memory);
    function getRecordedLogs() external returns (Log[] memory);
    function parseBytes(string calldata text) external pure returns (bytes memory);
    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);
    function prank(address sender) external;
    function readFile(string calldata path) external view returns (string memory);
    function recordLogs() external;
    function replace(string calldata text, string calldata from, string calldata to)
        external
        pure
        returns (string memory);
    function roll(uint256 number) external;
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function toString(address value) external pure returns (string memory);
    function warp(uint256 timestamp) external;
}
