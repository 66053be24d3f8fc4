// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {LibClone} from "solady/utils/LibClone.sol";
import {Command} from "./Command.sol";
import {IInboxHub} from "./IInboxHub.sol";
import {Inbox} from "./Inbox.sol";
import {Payment} from "./Payment.sol";
import {Terms, TermsLib} from "./Terms.sol";
import {Token} from "./Token.sol";

/// @title InboxHub
/// @notice The hub itself: no owner, no storage, no upgrade, no pause, and the same address on every chain.
contract InboxHub is IInboxHub {
    using TermsLib for Terms;
    using Token for address;

    /// @dev 10 %.
    uint256 public constant FEE_BPS_MAX = 1_000;
    uint256 private constant BPS = 10_000;

    address public immutable IMPLEMENTATION = address(new Inbox());
    bytes32 private immutable CLONE_CODE_HASH = LibClone.initCodeHash_PUSH0(IMPLEMENTATION);

    /// @dev What a netted batch took in, in the token's smallest units, and from how many inboxes.
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
        uint256 unitsBefore = _ownBalance(token);
        Batch memory batch;
        (batch, failures) = _pull(shared, salts);
        if (batch.count == 0) return failures;
        uint256 received = _ownBalance(token) - unitsBefore;
        if (received < batch.gross) revert UnitsMissing(received, batch.gross);
        uint256 feePaid = Payment.pay(token, shared.payout, batch.gross - batch.fee, shared.feeRecipient, batch.fee);
        emit NettedSettled(token, shared.payout, batch.gross, feePaid, batch.count);
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
        bool readable;
        (readable, units) = token.balanceOf(inbox);
        if (!readable) revert BalanceUnreadable();
        if (units == 0) revert NothingToRescue();
        _create(inbox, salt);
        bytes4 failure = Command.send(inbox, token, to, units);
        if (failure != 0) _revertWith(failure);
        emit Rescued(inbox, token, to, units);
    }

    /// @dev Moves what the inboxes hold into the hub, for the rest of this call only. The fee is the sum of what each
    /// inbox would have paid alone, so netting changes nobody's share.
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
                batch.fee += _feeOf(units, feeBps);
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

    /// @dev Never reverts for a reason that lies in the item. A balance of zero ends it before anything is created.
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
        uint256 fee = _feeOf(gross, terms.feeBps);
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

    function _ownBalance(address token) private view returns (uint256 units) {
        bool readable;
        (readable, units) = token.balanceOf(address(this));
        if (!readable) revert BalanceUnreadable();
    }

    /// @dev floor(units * feeBps / 10000) without the product that could overflow.
    function _feeOf(uint256 units, uint256 feeBps) private pure returns (uint256) {
        unchecked {
            return (units / BPS) * feeBps + (units % BPS) * feeBps / BPS;
        }
    }

    function _revertWith(bytes4 selector) private pure {
        assembly ("memory-safe") {
            mstore(0x00, selector)
            revert(0x00, 0x04)
        }
    }
}
