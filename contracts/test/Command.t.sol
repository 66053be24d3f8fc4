// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Command} from "../src/Command.sol";
import {Payment} from "../src/Payment.sol";
import {BaseTest} from "./Base.t.sol";

/// @dev In place of an inbox: answers whatever it was made with.
contract Answering {
    bool private immutable REVERTS;
    bytes private answer;

    constructor(bool reverts_, bytes memory answer_) {
        REVERTS = reverts_;
        answer = answer_;
    }

    fallback() external {
        bytes memory data = answer;
        bool reverts = REVERTS;
        assembly {
            if reverts { revert(add(data, 0x20), mload(data)) }
            return(add(data, 0x20), mload(data))
        }
    }
}

contract CommandTest is BaseTest {
    function payBy(Answering inbox) private returns (uint256 feePaid, bytes4 failure) {
        return Command.distribute(address(inbox), termsOf(0), 1, 1, Command.ALL_GAS);
    }

    function sendBy(Answering inbox) private returns (bytes4 failure) {
        return Command.send(address(inbox), address(token), payout, 1, Command.ALL_GAS);
    }

    function test_feeIsWhatTheInboxAnswers(uint256 fee) public {
        (uint256 feePaid, bytes4 failure) = payBy(new Answering(false, abi.encode(fee)));
        assertEq(feePaid, fee);
        assertSelector(failure, bytes4(0));
        assertSelector(sendBy(new Answering(false, "")), bytes4(0));
    }

    function test_errorIsNamedByItsSelector(bytes4 selector, bytes calldata rest) public {
        vm.assume(selector != 0);
        Answering inbox = new Answering(true, abi.encodePacked(selector, rest));
        (uint256 feePaid, bytes4 failure) = payBy(inbox);
        assertEq(feePaid, 0);
        assertSelector(failure, selector);
        assertSelector(sendBy(inbox), selector);
    }

    /// @dev As when the inbox runs out of gas: it must never be taken for success.
    function test_errorWithoutWords_isAFailedPayout() public {
        Answering inbox = new Answering(true, "");
        (uint256 feePaid, bytes4 failure) = payBy(inbox);
        assertEq(feePaid, 0);
        assertSelector(failure, Payment.PayoutFailed.selector);
        assertSelector(sendBy(inbox), Payment.PayoutFailed.selector);
    }
}
