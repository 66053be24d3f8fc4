// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Token} from "./Token.sol";

/// @notice Pays out a settlement: the payout first, then the fee.
library Payment {
    using Token for address;

    /// @dev The gas limit of the fee leg. A transfer of the most expensive ordinary token needs far less. Without a
    /// limit, a fee recipient that burns gas could prevent the payout.
    uint256 internal constant FEE_LEG_GAS = 200_000;

    /// @dev The gas that must be left before a fee leg may count as failed. A call passes on at most 63/64 of the
    /// remaining gas and itself costs up to 11,600. With this much left the leg had FEE_LEG_GAS, so a caller cannot
    /// make it fail by sending too little gas.
    uint256 internal constant FEE_LEG_GAS_LEFT = 220_000;

    error PayoutFailed();
    error FeeLegStarved();
    error TransferFailed();

    /// @return feePaid The fee, or 0 when its leg failed and the payout received everything.
    function pay(address token, address payout, uint256 net, address feeRecipient, uint256 fee)
        internal
        returns (uint256 feePaid)
    {
        if (!token.tryTransfer(payout, net, gasleft())) revert PayoutFailed();
        if (fee == 0) return 0;
        uint256 gasLeft = gasleft();
        if (token.tryTransfer(feeRecipient, fee, FEE_LEG_GAS)) return fee;
        if (gasLeft < FEE_LEG_GAS_LEFT) revert FeeLegStarved();
        if (!token.tryTransfer(payout, fee, gasleft())) revert PayoutFailed();
    }
}
