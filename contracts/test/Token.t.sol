// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Token} from "../src/Token.sol";
import {BaseTest} from "./Base.t.sol";
import {
    BlockingToken,
    BombToken,
    FalseToken,
    NoReturnToken,
    ShortToken,
    TwoToken,
    UnreadableToken
} from "./tokens/OddTokens.sol";

contract TokenTest is BaseTest {
    using Token for address;

    function moves(BlockingToken odd) private returns (bool) {
        odd.mint(address(this), 1);
        return address(odd).tryTransfer(payout, 1, gasleft());
    }

    function test_transferCounts_whenTrueOrNothingIsAnswered() public {
        assertTrue(moves(BlockingToken(address(token))), "true");
        assertTrue(moves(new NoReturnToken()), "nothing");
    }

    function test_transferDoesNotCount_whenAnythingElseIsAnswered() public {
        BlockingToken[4] memory odd =
            [new BlockingToken(), new FalseToken(), new BombToken(), BlockingToken(address(new TwoToken()))];
        for (uint256 i = 0; i < odd.length; ++i) {
            if (i < 3) odd[i].setBlocked(payout, true);
            assertTrue(!moves(odd[i]), "counted");
        }
        assertTrue(!stranger.tryTransfer(payout, 1, gasleft()), "an address without code moved something");
        assertTrue(!address(token).tryTransfer(payout, 1, gasleft()), "moved what was not there");
    }

    /// @dev The rest of the word that it is read into may hold anything.
    function test_answersOfLessThanAWordDoNotCount() public {
        for (uint256 length = 1; length < 32; ++length) {
            address short = address(new ShortToken(length));
            assembly {
                mstore(0x00, 1)
            }
            bool moved = short.tryTransfer(payout, 1, gasleft());
            assertTrue(!moved, "counted");
            (bool readable, uint256 units) = short.balanceOf(payout, gasleft());
            assertTrue(!readable && units == 0, "read");
        }
    }

    function test_balanceWithTooLittleGas_isUnreadable() public view {
        (bool readable,) = address(token).balanceOf(payout, 500);
        assertTrue(!readable, "read");
    }

    function test_dirtyAddressesAreCleaned() public {
        token.mint(address(this), 5);
        (address dirtyHolder, address dirtyTo) = (address(this), payout);
        assembly {
            dirtyHolder := or(dirtyHolder, shl(160, 0xdead))
            dirtyTo := or(dirtyTo, shl(160, 0xdead))
        }
        (bool readable, uint256 units) = address(token).balanceOf(dirtyHolder, gasleft());
        assertTrue(readable, "unreadable");
        assertEq(units, 5);
        assertTrue(address(token).tryTransfer(dirtyTo, 5, gasleft()), "not moved");
        assertEq(token.balanceOf(payout), 5);
    }

    function test_balance(uint256 units) public {
        token.mint(payout, units);
        (bool readable, uint256 found) = address(token).balanceOf(payout, gasleft());
        assertTrue(readable, "unreadable");
        assertEq(found, units);
        (readable, found) = address(new UnreadableToken()).balanceOf(payout, gasleft());
        assertTrue(!readable && found == 0, "read less than a word");
        (readable,) = stranger.balanceOf(payout, gasleft());
        assertTrue(!readable, "read an address without code");
        vm.deal(payout, 7);
        (readable, found) = address(0).balanceOf(payout, gasleft());
        assertEq(found, 7);
    }
}
