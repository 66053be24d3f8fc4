// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {LibClone} from "solady/utils/LibClone.sol";
import {MerkleProofLib} from "solady/utils/MerkleProofLib.sol";
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
contract InboxHub is IInboxHub {
    using TermsLib for Terms;
    using RouteLib for Route;
    using Token for address;

    /// @dev 10 %.
    uint256 public constant FEE_BPS_MAX = 1_000;

    address public immutable IMPLEMENTATION = address(new Inbox());
    bytes32 private immutable CLONE_CODE_HASH = LibClone.initCodeHash_PUSH0(IMPLEMENTATION);

    /// @dev The received amount of a netted batch, in the token's smallest units, and the number of its inboxes.
    struct Batch {
        uint256 gross;
        uint256 fee;
        uint256 count;
    }

    /// @dev 1 while a call that moves money runs. A token with hooks could otherwise let the payee settle again between
    /// the payout and the fee, and take most of the fee.
    uint256 private transient entered;

    modifier locked() {
        if (entered != 0) revert Entered();
        entered = 1;
        _;
        entered = 0;
    }

    function inboxOf(Terms calldata terms) external view returns (address) {
        return _inboxAt(terms.hash());
    }

    function settle(Terms calldata terms) external locked returns (uint256 gross) {
        bytes4 failure;
        (gross, failure) = _settle(terms);
        if (failure != 0) _revertWith(failure);
    }

    function settleMany(Terms[] calldata items) external locked returns (bytes4[] memory failures) {
        failures = new bytes4[](items.length);
        for (uint256 i = 0; i < items.length; ++i) {
            (, bytes4 failure) = _settle(items[i]);
            if (failure == 0) continue;
            failures[i] = failure;
            emit SettleFailed(_inboxAt(items[i].hash()), failure);
        }
    }

    function settleNetted(Terms calldata shared, bytes32[] calldata salts)
        external
        locked
        returns (bytes4[] memory failures)
    {
        bytes4 failure = _termsFailure(shared);
        if (failure != 0) _revertWith(failure);
        address token = shared.settleToken;
        if (token == address(0)) revert NativeNotNetted();
        uint256 unitsBefore = _balanceOf(token, address(this));
        Batch memory batch;
        (batch, failures) = _pull(shared, salts);
        if (batch.count == 0) return failures;
        uint256 received = _balanceOf(token, address(this)) - unitsBefore;
        if (received < batch.gross) revert UnitsMissing(received, batch.gross);
        uint256 feePaid = Payment.pay(token, shared.payout, batch.gross - batch.fee, shared.feeRecipient, batch.fee);
        emit NettedSettled(token, shared.payout, batch.gross, feePaid, batch.count);
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
        uint256 gross = _min(units, IAdapter(route.adapter).unitsMax(route));
        _create(inbox, salt);
        amount = gross - _takeFee(inbox, terms, route.token, gross);
        Inbox(payable(inbox)).bridge(terms, route, amount, quote);
        uint256 left = _balanceOf(route.token, inbox);
        if (left != units - gross) revert UnitsLeft(left, units - gross);
        emit Bridged(inbox, route.token, amount, route.adapter);
    }

    function receiveAndSettle(
        address transmitter,
        bytes calldata message,
        bytes calldata attestation,
        Terms calldata terms
    ) external locked returns (bool received, uint256 gross) {
        received = Command.receiveMessage(transmitter, message, attestation);
        bytes4 failure;
        (gross, failure) = _settle(terms);
        if (failure != 0) _revertWith(failure);
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
        bytes4 failure = Command.send(inbox, token, to, units);
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

    /// @dev When the settle chain is an EVM chain, the fee is taken there, from the amount that arrives.
    function _takeFee(address inbox, Terms calldata terms, address token, uint256 gross) private returns (uint256 fee) {
        if (terms.settleChainId != 0) return 0;
        fee = Fee.share(gross, terms.feeBps);
        if (fee == 0) return 0;
        fee = Inbox(payable(inbox)).payFee(token, terms.feeRecipient, fee);
        if (fee != 0) emit FeeTaken(inbox, token, fee);
    }

    /// @dev Moves the balances of the inboxes into the hub, for the rest of this call only. The fee is the sum of each
    /// inbox's own fee, so netting changes no share.
    function _pull(Terms calldata shared, bytes32[] calldata salts)
        private
        returns (Batch memory batch, bytes4[] memory failures)
    {
        failures = new bytes4[](salts.length);
        Terms memory terms = shared;
        address token = terms.settleToken;
        uint256 feeBps = terms.feeBps;
        for (uint256 i = 0; i < salts.length; ++i) {
            terms.salt = salts[i];
            bytes32 salt = terms.hashInMemory();
            address inbox = _inboxAt(salt);
            (uint256 units, bytes4 failure) = _pullOne(inbox, salt, token);
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

    function _pullOne(address inbox, bytes32 salt, address token) private returns (uint256 units, bytes4 failure) {
        bool readable;
        (readable, units) = token.balanceOf(inbox);
        if (!readable) return (0, BalanceUnreadable.selector);
        if (units == 0) return (0, 0);
        _create(inbox, salt);
        failure = Command.send(inbox, token, address(this), units);
    }

    /// @dev Never reverts because of the item. A balance of zero returns before anything is created.
    function _settle(Terms calldata terms) private returns (uint256 gross, bytes4 failure) {
        failure = _termsFailure(terms);
        if (failure != 0) return (0, failure);
        bytes32 salt = terms.hash();
        address inbox = _inboxAt(salt);
        bool readable;
        (readable, gross) = terms.settleToken.balanceOf(inbox);
        if (!readable) return (0, BalanceUnreadable.selector);
        if (gross == 0) return (0, 0);
        _create(inbox, salt);
        uint256 fee = Fee.share(gross, terms.feeBps);
        uint256 net;
        unchecked {
            net = gross - fee;
        }
        (fee, failure) = Command.pay(inbox, terms.settleToken, terms.payout, net, terms.feeRecipient, fee);
        if (failure != 0) return (0, failure);
        emit Settled(inbox, gross, fee);
    }

    function _termsFailure(Terms calldata terms) private view returns (bytes4) {
        if (block.chainid != terms.settleChainId) return WrongChain.selector;
        if (terms.feeBps > FEE_BPS_MAX) return FeeTooHigh.selector;
        return 0;
    }

    function _inboxAt(bytes32 salt) private view returns (address) {
        return LibClone.predictDeterministicAddress(CLONE_CODE_HASH, salt, address(this));
    }

    function _create(address inbox, bytes32 salt) private {
        if (inbox.code.length == 0) LibClone.cloneDeterministic_PUSH0(IMPLEMENTATION, salt);
    }

    function _balanceOf(address token, address holder) private view returns (uint256 units) {
        bool readable;
        (readable, units) = token.balanceOf(holder);
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
