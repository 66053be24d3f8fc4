// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {PlainToken} from "./PlainToken.sol";

/// @notice Reverts when a blocked account sends or receives, as issuers' blocklists do.
contract BlockingToken is PlainToken {
    mapping(address => bool) public blocked;

    error Blocked();

    function setBlocked(address account, bool value) external {
        blocked[account] = value;
    }

    function _move(address to, uint256 units) internal virtual override {
        if (blocked[msg.sender] || blocked[to]) revert Blocked();
        super._move(to, units);
    }
}

/// @notice Answers false instead of reverting when the receiver is blocked.
contract FalseToken is BlockingToken {
    function transfer(address to, uint256 units) external override returns (bool) {
        if (blocked[to]) return false;
        _move(to, units);
        return true;
    }
}

/// @notice Answers nothing, as USDT on Ethereum does.
contract NoReturnToken is BlockingToken {
    function transfer(address to, uint256 units) external override returns (bool) {
        _move(to, units);
        assembly {
            return(0, 0)
        }
    }
}

/// @notice Answers a word that is neither true nor false.
contract TwoToken is PlainToken {
    function transfer(address to, uint256 units) external override returns (bool) {
        _move(to, units);
        assembly {
            mstore(0, 2)
            return(0, 32)
        }
    }
}

/// @notice Keeps one unit in a hundred of every transfer.
contract TaxToken is PlainToken {
    function _move(address to, uint256 units) internal override {
        super._move(to, units);
        holdings[to] -= units / 100;
    }
}

/// @notice Tells the receiver about every transfer, if it is a contract.
contract HookToken is PlainToken {
    function _move(address to, uint256 units) internal override {
        super._move(to, units);
        if (to.code.length != 0) {
            (bool told,) = to.call(abi.encodeWithSignature("tokensReceived(uint256)", units));
            told;
        }
    }
}

/// @notice Spends a chosen amount of gas on transfers to a chosen receiver.
contract HungryToken is PlainToken {
    address public receiver;
    uint256 public gasUnits;

    function setAppetite(address receiver_, uint256 gasUnits_) external {
        receiver = receiver_;
        gasUnits = gasUnits_;
    }

    function _move(address to, uint256 units) internal override {
        if (to == receiver) {
            uint256 end = gasleft() < gasUnits ? 0 : gasleft() - gasUnits;
            while (gasleft() > end) {}
        }
        super._move(to, units);
    }
}

/// @notice Refuses transfers to a chosen receiver that begin with less than a chosen amount of gas.
contract PickyToken is PlainToken {
    address public receiver;
    uint256 public gasUnits;

    error TooLittleGas();

    function demand(address receiver_, uint256 gasUnits_) external {
        (receiver, gasUnits) = (receiver_, gasUnits_);
    }

    function transfer(address to, uint256 units) external override returns (bool) {
        uint256 left = gasleft();
        if (to == receiver && left < gasUnits) revert TooLittleGas();
        _move(to, units);
        return true;
    }
}

/// @notice Records the gas that each sender's transfer began with.
contract GasRecordingToken is PlainToken {
    mapping(address sender => uint256) public gasOf;

    function _move(address to, uint256 units) internal override {
        if (gasOf[msg.sender] == 0) gasOf[msg.sender] = gasleft();
        super._move(to, units);
    }
}

/// @notice Spends a chosen amount of gas before it answers with a balance.
contract SlowToken is PlainToken {
    uint256 private immutable GAS_UNITS;

    constructor(uint256 gasUnits) {
        GAS_UNITS = gasUnits;
    }

    function balanceOf(address account) public view override returns (uint256) {
        uint256 end = gasleft() < GAS_UNITS ? 0 : gasleft() - GAS_UNITS;
        while (gasleft() > end) {}
        return super.balanceOf(account);
    }
}

/// @notice Answers transfers and balances with fewer than 32 bytes.
contract ShortToken {
    uint256 private immutable LENGTH;

    constructor(uint256 length) {
        LENGTH = length;
    }

    fallback() external {
        uint256 length = LENGTH;
        assembly {
            return(0x60, length)
        }
    }
}

/// @notice Keeps one unit of every transfer.
contract UnitToken is PlainToken {
    function _move(address to, uint256 units) internal override {
        super._move(to, units);
        holdings[to] -= 1;
    }
}

/// @notice Reverts with a megabyte whenever a blocked account is involved.
contract BombToken is BlockingToken {
    function _move(address to, uint256 units) internal override {
        if (blocked[to]) {
            assembly {
                revert(0, 1000000)
            }
        }
        super._move(to, units);
    }
}

/// @notice Has a balance that cannot be read.
contract UnreadableToken {
    uint256 public transfers;

    function balanceOf(address) external pure returns (uint8) {
        assembly {
            return(0, 31)
        }
    }
}

/// @notice Refuses to change an allowance from one value to another, and answers nothing, as USDT on Ethereum does.
contract StubbornToken is PlainToken {
    mapping(address owner => mapping(address spender => uint256 units)) public allowance;

    error AllowanceNotZero();

    function approve(address spender, uint256 units) external {
        if (units != 0 && allowance[msg.sender][spender] != 0) revert AllowanceNotZero();
        allowance[msg.sender][spender] = units;
    }

    function transferFrom(address from, address to, uint256 units) external returns (bool) {
        allowance[from][msg.sender] -= units;
        holdings[from] -= units;
        holdings[to] += units;
        emit Transfer(from, to, units);
        return true;
    }

    function burn(uint256 units) external {
        holdings[msg.sender] -= units;
        emit Transfer(msg.sender, address(0), units);
    }
}

/// @notice Says that everybody holds more, or less, than they do.
contract LyingToken is PlainToken {
    int256 private immutable LIE;

    constructor(int256 lie) {
        LIE = lie;
    }

    function balanceOf(address account) public view override returns (uint256) {
        uint256 units = super.balanceOf(account);
        return units == 0 ? 0 : uint256(int256(units) + LIE);
    }
}

/// @notice Says that a transfer succeeded, and moves nothing.
contract IdleToken is PlainToken {
    function _move(address, uint256) internal override {}
}

/// @notice Calls whatever it was told to in the middle of every transfer, once before and once after the units move, as
/// ERC-777 calls sender and receiver. It keeps whether that was refused.
contract ReentrantToken is PlainToken {
    address private target;
    bytes private data;
    uint256 public successes;

    function aim(address target_, bytes calldata data_) external {
        (target, data) = (target_, data_);
    }

    function _move(address to, uint256 units) internal override {
        call();
        super._move(to, units);
        call();
    }

    function call() private {
        if (target == address(0)) return;
        (bool done,) = target.call(data);
        if (done) ++successes;
    }
}

/// @notice Refuses transfers of zero, as some tokens do.
contract ZeroShyToken is PlainToken {
    error NothingToMove();

    function _move(address to, uint256 units) internal override {
        if (units == 0) revert NothingToMove();
        super._move(to, units);
    }
}

/// @notice Refuses native coins that arrive with less than a chosen amount of gas.
contract PickyReceiver {
    uint256 private immutable GAS_UNITS;

    error TooLittleGas();

    constructor(uint256 gasUnits) {
        GAS_UNITS = gasUnits;
    }

    receive() external payable {
        if (gasleft() < GAS_UNITS) revert TooLittleGas();
    }
}
