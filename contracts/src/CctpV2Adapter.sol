// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {ITokenMessengerV2, ITokenMinterV2} from "./ICctpV2.sol";
import {ICctpV2Adapter} from "./ICctpV2Adapter.sol";
import {Route, Terms} from "./Terms.sol";

/// @title CctpV2Adapter
/// @notice Burns USDC by Circle's Cross-Chain Transfer Protocol, version 2, to be minted to the same inbox on the
/// settle chain, or to the pinned token account of a payout that is not on an EVM chain.
contract CctpV2Adapter is ICctpV2Adapter {
    using SafeTransferLib for address;

    uint256 private constant PPM = 1_000_000;

    address private immutable SELF = address(this);

    function unitsMax(Route calldata route) external view returns (uint256) {
        if (route.token == address(0)) revert NativeNotTaken();
        address minter = ITokenMessengerV2(_configOf(route).messenger).localMinter();
        return ITokenMinterV2(minter).burnLimitsPerMessage(route.token);
    }

    function bridge(Terms calldata terms, Route calldata route, uint256 units, bytes calldata quote) external {
        if (address(this) == SELF) revert NotDelegated();
        if (quote.length != 0) revert QuoteNotTaken();
        Config memory config = _configOf(route);
        route.token.safeApproveWithRetry(config.messenger, units);
        ITokenMessengerV2(config.messenger)
            .depositForBurn(
                units,
                config.domain,
                _recipientOf(terms, config),
                route.token,
                bytes32(0),
                (units * config.feePpmMax + PPM - 1) / PPM,
                config.finalityThresholdMin
            );
    }

    /// @dev Derived from the terms and not from the config alone: a wrong route then reverts instead of paying a
    /// stranger.
    function _recipientOf(Terms calldata terms, Config memory config) private view returns (bytes32) {
        if (terms.settleChainId == 0) {
            if (config.recipient == 0) revert RecipientMissing();
            return config.recipient;
        }
        if (config.recipient != 0) revert RecipientPinned(config.recipient);
        return bytes32(uint256(uint160(address(this))));
    }

    function _configOf(Route calldata route) private pure returns (Config memory) {
        return abi.decode(route.config, (Config));
    }
}
