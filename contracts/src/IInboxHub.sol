// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Route, Terms} from "./Terms.sol";

/// @title IInboxHub
/// @notice Creates inboxes and empties them. An inbox is the CREATE2 address of its terms, so a caller decides when
/// tokens move, and never where to.
interface IInboxHub {
    /// @param fee The amount that the fee recipient received; 0 when its leg failed and the payout received everything.
    event Settled(address indexed inbox, uint256 gross, uint256 fee);

    /// @notice One payout and one fee for `count` inboxes.
    event NettedSettled(address indexed token, address indexed payout, uint256 gross, uint256 fee, uint256 count);

    /// @notice An item of a batch moved nothing. Any caller can cause this with a low `itemGas`: it is a hint for the
    /// sender of the batch, and says nothing about the inbox.
    /// @param reason Selector of the error that the item failed with.
    event SettleFailed(address indexed inbox, bytes4 reason);

    event Rescued(address indexed inbox, address indexed token, address to, uint256 units);

    /// @notice An inbox sent `amount` over one of its routes.
    event Bridged(address indexed inbox, address indexed token, uint256 amount, address adapter);

    error Entered();
    error WrongChain();
    error SettledHere();
    error NoSuchRoute(bytes32 leaf);
    error NoAdapter(address adapter);
    error BelowMinimum(uint256 units, uint256 minAmount);
    error UnitsLeft(uint256 left, uint256 expected);
    error FeeTooHigh();
    error BalanceUnreadable();
    error NativeNotBatched();
    error MalformedTerms();
    /// An item of a batch could not have had its gas: the call needs a higher gas limit.
    error Starved(uint256 index);
    error UnitsMissing(uint256 received, uint256 expected);
    error NotRecovery(address caller, address recovery);
    error TooEarly(uint256 timestamp, uint256 recoverAfter);
    error NoReceiver();
    error NothingToRescue();

    /// @notice Inboxes with a higher fee cannot be settled.
    function FEE_BPS_MAX() external view returns (uint256);

    /// @notice The address of the inbox with these terms, whether or not it has been created.
    function inboxOf(Terms calldata terms) external view returns (address);

    /// @notice Pays the inbox's whole balance of its settle token to its payout and fee recipient. Anyone may call.
    /// @return gross The balance of the inbox, in the token's smallest units; 0 when there was nothing to do.
    function settle(Terms calldata terms) external returns (uint256 gross);

    /// @notice Settles each inbox on its own; one that fails moves nothing and does not touch the others. Anyone may
    /// call. The native coin is settled alone. The gas limit of the transaction decides only between `Starved` or out
    /// of gas, which revert everything, and one outcome.
    /// @param itemGas The gas that each inbox gets, exactly, to pay with.
    /// @return failures For each item the selector of the error that it failed with, or 0.
    function settleMany(Terms[] calldata items, uint256 itemGas) external returns (bytes4[] memory failures);

    /// @notice Settles inboxes whose terms differ only in the salt, with one payout and one fee for all of them.
    /// Anyone may call.
    /// @param shared The common terms; its salt is ignored.
    /// @param itemGas The gas that each inbox gets, exactly, to send its balance with.
    /// @return failures For each salt the selector of the error that its inbox failed with, or 0.
    function settleNetted(Terms calldata shared, bytes32[] calldata salts, uint256 itemGas)
        external
        returns (bytes4[] memory failures);

    /// @notice Bridges an inbox's balance of a route's token to the settle chain. Anyone may call. The terms must
    /// commit to the route, which decides everything but the moment.
    /// @param proof The Merkle proof: the siblings from the route's leaf up to `terms.routesRoot`.
    /// @param quote Current data for the adapter; it cannot redirect tokens.
    /// @return amount The bridged amount, in the token's smallest units; 0 when the inbox holds nothing.
    function bridge(Terms calldata terms, Route calldata route, bytes32[] calldata proof, bytes calldata quote)
        external
        returns (uint256 amount);

    /// @notice Has a bridge's message received, then settles. Anyone may call. A message that is invalid or was
    /// received before does not affect the settlement.
    /// @param transmitter Circle's MessageTransmitterV2, or any contract with its `receiveMessage`. The hub does not
    /// trust it.
    /// @return received Whether the transmitter reports that it received the message now.
    /// @return gross As `settle` returns it.
    function receiveAndSettle(
        address transmitter,
        bytes calldata message,
        bytes calldata attestation,
        Terms calldata terms
    ) external returns (bool received, uint256 gross);

    /// @notice Moves the whole balance of a token out of an inbox. Only the recovery address of its terms may call: at
    /// once for tokens that are never settled, and after `recoverAfter` for everything.
    /// @param token The token, or 0 for the native coin.
    function rescue(Terms calldata terms, address token, address to) external returns (uint256 units);
}
