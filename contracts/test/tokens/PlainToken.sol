// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice An ordinary token. The odd ones override one of its two steps.
contract PlainToken {
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 units);

    error NotEnough(uint256 units, uint256 balance);

    function mint(address to, uint256 units) external {
        balanceOf[to] += units;
        emit Transfer(address(0), to, units);
    }

    function transfer(address to, uint256 units) external virtual returns (bool) {
        _move(to, units);
        return true;
    }

    function _move(address to, uint256 units) internal virtual {
        uint256 balance = balanceOf[msg.sender];
        if (balance < units) revert NotEnough(units, balance);
        unchecked {
            balanceOf[msg.sender] = balance - units;
            balanceOf[to] += units;
        }
        emit Transfer(msg.sender, to, units);
    }
}
