// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice What tokens share that do otherwise than the standard says.
abstract contract OddToken {
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 units) external {
        balanceOf[to] += units;
        emit Transfer(address(0), to, units);
    }

    function _move(address from, address to, uint256 units) internal {
        balanceOf[from] -= units;
        balanceOf[to] += units;
        emit Transfer(from, to, units);
    }
}

/// @notice Answers nothing.
contract SilentToken is OddToken {
    function transfer(address to, uint256 units) external {
        _move(msg.sender, to, units);
    }
}

/// @notice Keeps a hundredth of each transfer for its owner.
contract TaxedToken is OddToken {
    address public immutable owner = msg.sender;

    function transfer(address to, uint256 units) external returns (bool) {
        _move(msg.sender, to, units - units / 100);
        if (units >= 100) _move(msg.sender, owner, units / 100);
        return true;
    }
}
