// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice An ordinary token. The odd ones override one of its two steps.
contract PlainToken {
    /// @dev The truth, whatever `balanceOf` says.
    mapping(address => uint256) public holdings;

    event Transfer(address indexed from, address indexed to, uint256 units);

    error NotEnough(uint256 units, uint256 balance);

    function balanceOf(address account) public view virtual returns (uint256) {
        return holdings[account];
    }

    function mint(address to, uint256 units) external {
        holdings[to] += units;
        emit Transfer(address(0), to, units);
    }

    function transfer(address to, uint256 units) external virtual returns (bool) {
        _move(to, units);
        return true;
    }

    function _move(address to, uint256 units) internal virtual {
        uint256 balance = holdings[msg.sender];
        if (balance < units) revert NotEnough(units, balance);
        unchecked {
            holdings[msg.sender] = balance - units;
            holdings[to] += units;
        }
        emit Transfer(msg.sender, to, units);
    }
}
