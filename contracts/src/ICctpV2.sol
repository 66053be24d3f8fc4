// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice The called functions of Circle's contracts, version 2. Amounts are in the burned token's smallest units.
interface ITokenMessengerV2 {
    function localMinter() external view returns (address);

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external;
}

interface ITokenMinterV2 {
    function burnLimitsPerMessage(address token) external view returns (uint256);
}

interface IMessageTransmitterV2 {
    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool success);
}
