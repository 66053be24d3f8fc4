// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Fee} from "../src/Fee.sol";

/// @notice Claims about the fee, for every sum and every fee that the hub lets pass. The model checker proves each assertion,
/// and that no arithmetic here can overflow; nothing of this is ever deployed.
contract FeeProof {
    uint256 private constant BPS = 10_000;
    uint256 private constant FEE_BPS_MAX = 1_000;

    /// @dev The steps of the calculation, with the checks that Fee leaves out: none of them can fail.
    function noStepOverflows(uint256 units, uint256 feeBps) external pure returns (uint256) {
        require(feeBps <= FEE_BPS_MAX);
        return (units / BPS) * feeBps + (units % BPS) * feeBps / BPS;
    }

    function feeAndNetAreTheWhole(uint256 units, uint256 feeBps) external pure {
        require(feeBps <= FEE_BPS_MAX);
        uint256 fee = Fee.share(units, feeBps);
        uint256 net = units - fee;
        assert(fee + net == units);
    }

    /// @dev Nobody's payout is ever nothing.
    function somethingIsLeftForThePayout(uint256 units, uint256 feeBps) external pure {
        require(feeBps <= FEE_BPS_MAX && units > 0);
        assert(Fee.share(units, feeBps) < units);
    }

    /// @dev A netted batch pays the sum of its inboxes' fees, and what is left to its payout: gross = fee + net.
    function netFeesAndPayoutAreTheWhole(uint256 one, uint256 other, uint256 feeBps) external pure {
        require(feeBps <= FEE_BPS_MAX && one <= type(uint256).max - other);
        uint256 gross = one + other;
        uint256 fee = Fee.share(one, feeBps) + Fee.share(other, feeBps);
        assert(fee <= gross);
        uint256 net = gross - fee;
        assert(fee + net == gross);
    }

    /// @dev A second settlement of an emptied inbox takes nothing.
    function nothingHasNoFee(uint256 feeBps) external pure {
        require(feeBps <= FEE_BPS_MAX);
        assert(Fee.share(0, feeBps) == 0);
    }

    function noFeeIsNothing(uint256 units) external pure {
        assert(Fee.share(units, 0) == 0);
    }
}
