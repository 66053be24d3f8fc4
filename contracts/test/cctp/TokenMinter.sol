// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {FiatToken} from "../FiatToken.sol";

/// @notice Behaves as Circle's TokenMinterV2.
contract TokenMinter {
    address public localTokenMessenger;
    mapping(address token => uint256 units) public burnLimitsPerMessage;
    mapping(bytes32 remote => FiatToken) private localTokens;

    modifier onlyMessenger() {
        require(msg.sender == localTokenMessenger, "Caller not local TokenMessenger");
        _;
    }

    function setMessenger(address messenger) external {
        localTokenMessenger = messenger;
    }

    function setBurnLimit(address token, uint256 units) external {
        burnLimitsPerMessage[token] = units;
    }

    function linkTokenPair(FiatToken local, uint32 remoteDomain, address remote) external {
        localTokens[keccak256(abi.encode(remoteDomain, remote))] = local;
    }

    function burn(address token, uint256 units) external onlyMessenger {
        require(burnLimitsPerMessage[token] > 0, "Burn token not supported");
        require(units <= burnLimitsPerMessage[token], "Burn amount exceeds per tx limit");
        FiatToken(token).burn(units);
    }

    function mint(uint32 remoteDomain, bytes32 remote, address to, uint256 units) external onlyMessenger {
        FiatToken local = localTokens[keccak256(abi.encode(remoteDomain, address(uint160(uint256(remote)))))];
        require(address(local) != address(0), "Mint token not supported");
        require(local.mint(to, units), "Mint operation failed");
    }
}
