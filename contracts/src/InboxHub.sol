// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {LibClone} from "solady/utils/LibClone.sol";
import {Inbox} from "./Inbox.sol";
import {Payment} from "./Payment.sol";
import {Terms, TermsLib} from "./Terms.sol";
import {Token} from "./Token.sol";

/// @title InboxHub
/// @notice Creates inboxes and empties them. An inbox is the CREATE2 address of its terms, so whoever calls decides when money
/// moves and never where to. There is no owner, no storage, no upgrade and no pause.
contract InboxHub {
    using TermsLib for Terms;
    using Token for address;

    /// @notice No inbox may commit to a higher fee: 10 %.
    uint256 public constant FEE_BPS_MAX = 1_000;
    uint256 private constant BPS = 10_000;

    /// @notice The code that every inbox delegates to.
    address public immutable IMPLEMENTATION = address(new Inbox());
    bytes32 private immutable CLONE_CODE_HASH = LibClone.initCodeHash_PUSH0(IMPLEMENTATION);

    /// @dev What a netted batch took in, in the token's smallest units, and from how many inboxes.
    struct Batch {
        uint256 gross;
        uint256 fee;
        uint256 count;
    }

    /// @dev 1 while a call that moves money runs. A token with hooks could otherwise let the payee settle again between the
    /// payout and the fee, and take most of the fee.
    uint256 private transient entered;

    event Settled(address indexed inbox, address token, address payout, uint256 gross, uint256 fee);
    event NettedSettled(address indexed token, address indexed payout, uint256 gross, uint256 fee, uint256 count);
    event SettleFailed(address indexed inbox, bytes4 reason);
    event Rescued(address indexed inbox, address indexed token, address to, uint256 units);

    error Entered();
    error WrongChain();
    error FeeTooHigh();
    error BalanceUnreadable();
    error NativeNotNetted();
    error UnitsMissing(uint256 received, uint256 expected);
    error NotRecovery(address caller, address recovery);
    error TooEarly(uint256 timestamp, uint256 recoverAfter);
    error NoReceiver();
    error NothingToRescue();

    modifier locked() {
        if (entered != 0) revert Entered();
        entered = 1;
        _;
        entered = 0;
    }

    /// @notice The address of the inbox with these terms, whether or not it has been created.
    function inboxOf(Terms calldata terms) external view returns (address) {
        return _inboxAt(terms.hash());
    }

    /// @notice Pays everything the inbox holds of its settle token to its payout and fee recipient. Anyone may call.
    /// @return gross What the inbox held, in the token's smallest units; 0 when there was nothing to do.
    function settle(Terms calldata terms) external locked returns (uint256 gross) {
        bytes4 failure;
        (gross, failure) = _settle(terms);
        if (failure != 0) _revertWith(failure);
    }

    /// @notice Settles each inbox on its own; one that fails moves nothing and does not touch the others.
    /// @return failures For each item the selector of the error that it failed with, or 0.
    function settleMany(Terms[] calldata items) external locked returns (bytes4[] memory failures) {
        failures = new bytes4[](items.length);
        for (uint256 i = 0; i < items.length; ++i) {
            (, bytes4 failure) = _settle(items[i]);
            if (failure == 0) continue;
            failures[i] = failure;
            emit SettleFailed(_inboxAt(items[i].hash()), failure);
        }
    }

    /// @notice Settles inboxes whose terms differ in nothing but the salt, with one payout and one fee for all of them.
    /// @param shared The common terms; its salt is ignored.
    /// @return failures For each salt the selector of the error that its inbox failed with, or 0.
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

    /// @notice Moves the whole balance of a token out of an inbox. Only the recovery address of its terms may call: at once for what
    /// nobody will ever settle, and after `recoverAfter` for everything.
    /// @param token The token, or 0 for the native coin.
    function rescue(Terms calldata terms, address token, address to) external locked returns (uint256 units) {
        if (msg.sender != terms.recovery) revert NotRecovery(msg.sender, terms.recovery);
        bool neverSettled = block.chainid == terms.settleChainId && token != terms.settleToken;
        if (!neverSettled && block.timestamp < terms.recoverAfter) revert TooEarly(block.timestamp, terms.recoverAfter);
        if (to == address(0)) revert NoReceiver();
        bytes32 salt = terms.hash();
        address inbox = _inboxAt(salt);
        bool readable;
        (readable, units) = token.balanceOf(inbox);
        if (!readable) revert BalanceUnreadable();
        if (units == 0) revert NothingToRescue();
        _create(inbox, salt);
        Inbox(payable(inbox)).send(token, to, units);
        emit Rescued(inbox, token, to, units);
    }

    /// @dev Moves what the inboxes hold into the hub, for the rest of this call only. The fee is the sum of what each inbox would have
    /// paid alone, so netting changes nobody's share.
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
        try Inbox(payable(inbox)).send(token, address(this), units) {}
        catch (bytes memory reason) {
            return (0, _selectorOf(reason));
        }
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
        try Inbox(payable(inbox)).pay(terms.settleToken, terms.payout, gross - fee, terms.feeRecipient, fee) returns (
            uint256 feePaid
        ) {
            emit Settled(inbox, terms.settleToken, terms.payout, gross, feePaid);
        } catch (bytes memory reason) {
            return (0, _selectorOf(reason));
        }
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

    /// @dev An inbox that runs out of gas answers nothing; that is a failed payout too.
    function _selectorOf(bytes memory reason) private pure returns (bytes4) {
        return reason.length < 4 ? Payment.PayoutFailed.selector : bytes4(reason);
    }

    function _revertWith(bytes4 selector) private pure {
        assembly ("memory-safe") {
            mstore(0x00, selector)
            revert(0x00, 0x04)
        }
    }
}
