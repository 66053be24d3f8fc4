// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {LibClone} from "solady/utils/LibClone.sol";
import {MerkleProofLib} from "solady/utils/MerkleProofLib.sol";
import {Clone} from "./Clone.sol";
import {Command} from "./Command.sol";
import {Fee} from "./Fee.sol";
import {IAdapter} from "./IAdapter.sol";
import {IInboxHub} from "./IInboxHub.sol";
import {Inbox} from "./Inbox.sol";
import {Payment} from "./Payment.sol";
import {Route, RouteLib, Terms, TermsLib} from "./Terms.sol";
import {Token} from "./Token.sol";

/// @title InboxHub
/// @notice The hub: no owner, no storage, no upgrade, no pause, and the same address on every chain.
contract InboxHub is IInboxHub, Inbox {
    using TermsLib for Terms;
    using RouteLib for Route;
    using Token for address;

    /// @dev 10 %.
    uint256 public constant FEE_BPS_MAX = 1_000;

    /// @dev The gas of a batch for reading one balance, exactly. Widespread tokens need at most a third of it.
    uint256 private constant READ_GAS = 100_000;

    /// @dev What an item needs at most besides its `itemGas`: READ_GAS · 64/63, 44,000 to create the inbox, and the
    /// hub's own steps.
    uint256 private constant ITEM_GAS_RESERVE = 160_000;

    /// @dev The received amount of a netted batch, in the token's smallest units, and the number of its inboxes.
    struct Batch {
        uint256 gross;
        uint256 fee;
        uint256 count;
    }

    bytes32 private immutable CLONE_HEAD;
    bytes32 private immutable CLONE_TAIL;
    bytes32 private immutable CLONE_CODE_HASH;

    /// @dev 1 while a call that moves money runs. A token with hooks could otherwise let the payee settle again between
    /// the payout and the fee, and take most of the fee.
    uint256 private transient entered;

    /// @dev The lock works in the hub alone. An inbox delegates to this code too, and may do nothing by itself.
    modifier locked() {
        if (address(this) != HUB) revert NotHub(address(this));
        if (entered != 0) revert Entered();
        entered = 1;
        _;
        entered = 0;
    }

    constructor() {
        // Reverts on a chain without transient storage (before the hard fork Cancun), where nothing could be settled.
        entered = 0;
        (CLONE_HEAD, CLONE_TAIL) = Clone.creationCodeOf(address(this));
        CLONE_CODE_HASH = Clone.creationCodeHash(CLONE_HEAD, CLONE_TAIL);
    }

    function inboxOf(Terms calldata terms) external view returns (address) {
        return _inboxAt(terms.hash());
    }

    function settle(Terms calldata terms) external locked returns (uint256 gross) {
        return _settleAlone(terms);
    }

    function settleMany(Terms[] calldata items, uint256 itemGas) external locked returns (bytes4[] memory failures) {
        failures = new bytes4[](items.length);
        uint256 gasNeeded = _gasNeeded(itemGas);
        Terms memory terms;
        for (uint256 i = 0; i < items.length; ++i) {
            if (gasleft() < gasNeeded) revert Starved(i);
            items[i].copyTo(terms);
            bytes4 failure = NativeNotBatched.selector;
            if (terms.settleToken != address(0)) (, failure) = _settle(terms, READ_GAS, itemGas);
            if (failure == 0) continue;
            failures[i] = failure;
            emit SettleFailed(_inboxAt(terms.hashInMemory()), failure);
        }
    }

    function settleNetted(Terms calldata shared, bytes32[] calldata salts, uint256 itemGas)
        external
        locked
        returns (bytes4[] memory failures)
    {
        Terms memory terms = shared;
        bytes4 failure = _termsFailure(terms);
        if (failure != 0) _revertWith(failure);
        address token = terms.settleToken;
        if (token == address(0)) revert NativeNotBatched();
        uint256 unitsBefore = _balanceOf(token, address(this));
        Batch memory batch;
        (batch, failures) = _pull(terms, salts, itemGas);
        if (batch.count == 0) return failures;
        uint256 received = _balanceOf(token, address(this)) - unitsBefore;
        if (received < batch.gross) revert UnitsMissing(received, batch.gross);
        uint256 feePaid = Payment.pay(token, terms.payout, batch.gross - batch.fee, terms.feeRecipient, batch.fee);
        emit NettedSettled(token, terms.payout, batch.gross, feePaid, batch.count);
    }

    function bridge(Terms calldata terms, Route calldata route, bytes32[] calldata proof, bytes calldata quote)
        external
        locked
        returns (uint256 amount)
    {
        _requireRoute(terms, route, proof);
        bytes32 salt = terms.hash();
        address inbox = _inboxAt(salt);
        uint256 units = _balanceOf(route.token, inbox);
        if (units == 0) return 0;
        if (units < route.minAmount) revert BelowMinimum(units, route.minAmount);
        amount = _min(units, IAdapter(route.adapter).unitsMax(route));
        _create(inbox, salt);
        Inbox(payable(inbox)).bridge(terms, route, amount, quote);
        uint256 left = _balanceOf(route.token, inbox);
        if (left != units - amount) revert UnitsLeft(left, units - amount);
        emit Bridged(inbox, route.token, amount, route.adapter);
    }

    function receiveAndSettle(
        address transmitter,
        bytes calldata message,
        bytes calldata attestation,
        Terms calldata terms
    ) external locked returns (bool received, uint256 gross) {
        received = Command.receiveMessage(transmitter, message, attestation);
        gross = _settleAlone(terms);
    }

    function rescue(Terms calldata terms, address token, address to) external locked returns (uint256 units) {
        if (msg.sender != terms.recovery) revert NotRecovery(msg.sender, terms.recovery);
        bool neverSettled = block.chainid == terms.settleChainId && token != terms.settleToken;
        if (!neverSettled && block.timestamp < terms.recoverAfter) {
            revert TooEarly(block.timestamp, terms.recoverAfter);
        }
        if (to == address(0)) revert NoReceiver();
        bytes32 salt = terms.hash();
        address inbox = _inboxAt(salt);
        units = _balanceOf(token, inbox);
        if (units == 0) revert NothingToRescue();
        _create(inbox, salt);
        bytes4 failure = Command.send(inbox, token, to, units, Command.ALL_GAS);
        if (failure != 0) _revertWith(failure);
        emit Rescued(inbox, token, to, units);
    }

    /// @dev On the settle chain there is nothing to bridge. Bridging there would take the tokens away from the payout.
    function _requireRoute(Terms calldata terms, Route calldata route, bytes32[] calldata proof) private view {
        if (block.chainid == terms.settleChainId) revert SettledHere();
        if (block.chainid != route.chainId) revert WrongChain();
        if (terms.feeBps > FEE_BPS_MAX) revert FeeTooHigh();
        bytes32 leaf = route.leaf();
        if (!MerkleProofLib.verifyCalldata(proof, terms.routesRoot, leaf)) revert NoSuchRoute(leaf);
        if (route.adapter.code.length == 0) revert NoAdapter(route.adapter);
    }

    /// @dev Moves the balances of the inboxes into the hub, for the rest of this call only. The fee is the sum of each
    /// inbox's own fee, so netting changes no share.
    function _pull(Terms memory terms, bytes32[] calldata salts, uint256 itemGas)
        private
        returns (Batch memory batch, bytes4[] memory failures)
    {
        failures = new bytes4[](salts.length);
        uint256 gasNeeded = _gasNeeded(itemGas);
        address token = terms.settleToken;
        uint256 feeBps = terms.feeBps;
        for (uint256 i = 0; i < salts.length; ++i) {
            if (gasleft() < gasNeeded) revert Starved(i);
            terms.salt = salts[i];
            bytes32 salt = terms.hashInMemory();
            address inbox = _inboxAt(salt);
            (uint256 units, bytes4 failure) = _pullOne(inbox, salt, token, itemGas);
            if (failure != 0) {
                failures[i] = failure;
                emit SettleFailed(inbox, failure);
            } else if (units != 0) {
                batch.gross += units;
                batch.fee += Fee.share(units, feeBps);
                ++batch.count;
            }
        }
    }

    function _pullOne(address inbox, bytes32 salt, address token, uint256 itemGas)
        private
        returns (uint256 units, bytes4 failure)
    {
        bool readable;
        (readable, units) = token.balanceOf(inbox, READ_GAS);
        if (!readable) return (0, BalanceUnreadable.selector);
        if (units == 0) return (0, 0);
        _create(inbox, salt);
        failure = Command.send(inbox, token, address(this), units, itemGas);
    }

    function _settleAlone(Terms calldata source) private returns (uint256 gross) {
        Terms memory terms;
        source.copyTo(terms);
        bytes4 failure;
        (gross, failure) = _settle(terms, Command.ALL_GAS, Command.ALL_GAS);
        if (failure != 0) _revertWith(failure);
    }

    /// @dev Never reverts because of the item. A balance of zero returns before anything is created.
    function _settle(Terms memory terms, uint256 readGas, uint256 payGas)
        private
        returns (uint256 gross, bytes4 failure)
    {
        failure = _termsFailure(terms);
        if (failure != 0) return (0, failure);
        bytes32 salt = terms.hashInMemory();
        address inbox = _inboxAt(salt);
        bool readable;
        (readable, gross) = terms.settleToken.balanceOf(inbox, readGas);
        if (!readable) return (0, BalanceUnreadable.selector);
        if (gross == 0) return (0, 0);
        _create(inbox, salt);
        uint256 fee = Fee.share(gross, terms.feeBps);
        uint256 net;
        unchecked {
            net = gross - fee;
        }
        (fee, failure) = Command.distribute(inbox, terms, net, fee, payGas);
        if (failure != 0) return (0, failure);
        emit Settled(inbox, gross, fee);
    }

    function _termsFailure(Terms memory terms) private view returns (bytes4) {
        if (!terms.isCanonical()) return MalformedTerms.selector;
        if (block.chainid != terms.settleChainId) return WrongChain.selector;
        if (terms.feeBps > FEE_BPS_MAX) return FeeTooHigh.selector;
        return 0;
    }

    /// @dev What must be left before an item, so that its calls get the gas that they are given: a call passes on at
    /// most 63/64 of what is left. Reverts when `itemGas` is near the largest number.
    function _gasNeeded(uint256 itemGas) private pure returns (uint256) {
        return itemGas + itemGas / 63 + ITEM_GAS_RESERVE;
    }

    function _inboxAt(bytes32 salt) private view returns (address) {
        return LibClone.predictDeterministicAddress(CLONE_CODE_HASH, salt, HUB);
    }

    function _create(address inbox, bytes32 salt) private {
        if (inbox.code.length == 0) Clone.create(CLONE_HEAD, CLONE_TAIL, salt);
    }

    function _balanceOf(address token, address holder) private view returns (uint256 units) {
        bool readable;
        (readable, units) = token.balanceOf(holder, Command.ALL_GAS);
        if (!readable) revert BalanceUnreadable();
    }

    function _min(uint256 one, uint256 other) private pure returns (uint256) {
        return one < other ? one : other;
    }

    function _revertWith(bytes4 selector) private pure {
        assembly ("memory-safe") {
            mstore(0x00, selector)
            revert(0x00, 0x04)
        }
    }
}
