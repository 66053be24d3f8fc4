// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {ICctpV2Adapter} from "../src/ICctpV2Adapter.sol";
import {IInboxHub} from "../src/IInboxHub.sol";
import {Route, Terms} from "../src/Terms.sol";
import {Message} from "./cctp/Message.sol";
import {CctpWorld} from "./cctp/World.sol";
import {StubbornToken} from "./tokens/OddTokens.sol";

contract CctpV2AdapterTest is CctpWorld {
    using Message for bytes;

    function test_burnsForTheInboxItself(uint256 units) public {
        units = 1e6 + units % BURN_LIMIT;
        if (units > BURN_LIMIT) units = BURN_LIMIT;
        (Terms memory terms, Route memory route) = fundedAway(units);
        bytes memory message = burn(terms, route);
        bytes32 inbox = bytes32(uint256(uint160(hub.inboxOf(terms))));
        assertEq(message.number(Message.SOURCE), away.domain);
        assertEq(message.number(Message.DESTINATION), home.domain);
        assertEq(message.word(Message.SENDER), bytes32(uint256(uint160(address(away.messenger)))));
        assertEq(message.word(Message.RECIPIENT), bytes32(uint256(uint160(address(home.messenger)))));
        assertEq(message.word(Message.DESTINATION_CALLER), 0);
        assertEq(message.number(Message.THRESHOLD_MIN), FAST);
        bytes memory body = message.body();
        assertEq(body.word(Message.BURN_TOKEN), bytes32(uint256(uint160(address(away.usdc)))));
        assertEq(body.word(Message.MINT_RECIPIENT), inbox);
        assertEq(body.word(Message.MESSAGE_SENDER), inbox);
        assertEq(uint256(body.word(Message.AMOUNT)), units);
        assertEq(uint256(body.word(Message.FEE_MAX)), (units * 1_400 + 999_999) / 1_000_000);
        assertEq(away.usdc.balanceOf(hub.inboxOf(terms)), 0);
        assertEq(away.usdc.allowance(hub.inboxOf(terms), address(away.messenger)), 0);
    }

    function test_travelsAndIsPaidOut() public {
        (Terms memory terms, Route memory route) = fundedAway(1_000e6);
        bytes memory message = burn(terms, route);
        bytes memory attestation = attest(message, FAST, 130_000);
        vm.chainId(home.chainId);
        (bool received, uint256 gross) = hub.receiveAndSettle(address(home.transmitter), message, attestation, terms);
        assertTrue(received, "not received");
        assertEq(gross, 999_870_000);
        assertEq(home.usdc.balanceOf(payout), 994_870_650);
        assertEq(home.usdc.balanceOf(feeRecipient), 4_999_350);
        assertEq(home.usdc.balanceOf(bridgeFees), 130_000);
    }

    function test_aSumAboveTheBurnLimitTravelsInParts() public {
        (Terms memory terms, Route memory route) = fundedAway(2 * BURN_LIMIT + 5e6);
        uint256[3] memory parts = [BURN_LIMIT, BURN_LIMIT, 5e6];
        for (uint256 i = 0; i < parts.length; ++i) {
            assertEq(hub.bridge(terms, route, new bytes32[](0), ""), parts[i]);
        }
        assertEq(away.usdc.balanceOf(hub.inboxOf(terms)), 0);
    }

    function test_pinsTheTokenAccountOfASolanaPayout_andTakesNoFee() public {
        (Terms memory terms, Route memory route) = solana(keccak256("a token account"));
        away.usdc.mint(hub.inboxOf(terms), 1_000e6);
        bytes memory message = burn(terms, route);
        assertEq(message.number(Message.DESTINATION), SOLANA);
        assertEq(message.body().word(Message.MINT_RECIPIENT), keccak256("a token account"));
        assertEq(uint256(message.body().word(Message.AMOUNT)), 1_000e6);
        assertEq(away.usdc.balanceOf(feeRecipient), 0);
    }

    /// @dev Some tokens refuse to change an allowance that is not zero.
    function test_anAllowanceThatWasLeftDoesNotStopIt() public {
        StubbornToken stubborn = new StubbornToken();
        away.minter.setBurnLimit(address(stubborn), type(uint256).max);
        Route memory route = routeWith(configHome());
        route.token = address(stubborn);
        Terms memory terms = cctpTerms(route);
        address inbox = hub.inboxOf(terms);
        stubborn.mint(inbox, 5e6);
        vm.prank(inbox);
        stubborn.approve(address(away.messenger), 1);
        hub.bridge(terms, route, new bytes32[](0), "");
        assertEq(stubborn.balanceOf(inbox), 0);
        assertEq(stubborn.allowance(inbox, address(away.messenger)), 0);
    }

    function test_reverts_whenAQuoteIsGiven(bytes calldata quote) public {
        vm.assume(quote.length > 0);
        (Terms memory terms, Route memory route) = fundedAway(5e6);
        vm.expectRevert(ICctpV2Adapter.QuoteNotTaken.selector);
        hub.bridge(terms, route, new bytes32[](0), quote);
    }

    function test_reverts_whenItDoesNotRunAsAnInbox() public {
        (Terms memory terms, Route memory route) = fundedAway(5e6);
        away.usdc.mint(address(cctp), 5e6);
        vm.expectRevert(ICctpV2Adapter.NotDelegated.selector);
        cctp.bridge(terms, route, 5e6, "");
    }

    function test_reverts_whenTheRouteNamesTheNativeCoin() public {
        Route memory route = routeWith(configHome());
        (route.token, route.minAmount) = (address(0), 0);
        Terms memory terms = cctpTerms(route);
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.expectRevert(ICctpV2Adapter.NativeNotTaken.selector);
        hub.bridge(terms, route, new bytes32[](0), "");
    }

    /// @dev A route that was put together wrongly pays no stranger.
    function test_reverts_whenAnEvmPayoutHasAPinnedRecipient(bytes32 recipient) public {
        vm.assume(recipient != 0);
        ICctpV2Adapter.Config memory config = configHome();
        config.recipient = recipient;
        Route memory route = routeWith(config);
        Terms memory terms = cctpTerms(route);
        away.usdc.mint(hub.inboxOf(terms), 5e6);
        vm.expectRevert(abi.encodeWithSelector(ICctpV2Adapter.RecipientPinned.selector, recipient));
        hub.bridge(terms, route, new bytes32[](0), "");
    }

    function test_reverts_whenASolanaPayoutHasNoRecipient() public {
        (Terms memory terms, Route memory route) = solana(0);
        away.usdc.mint(hub.inboxOf(terms), 5e6);
        vm.expectRevert(ICctpV2Adapter.RecipientMissing.selector);
        hub.bridge(terms, route, new bytes32[](0), "");
    }

    function test_reverts_whenTheFeeCouldEatTheAmount() public {
        ICctpV2Adapter.Config memory config = configHome();
        config.feePpmMax = 1_000_000;
        Route memory route = routeWith(config);
        Terms memory terms = cctpTerms(route);
        away.usdc.mint(hub.inboxOf(terms), 5e6);
        vm.expectRevert("Max fee must be less than amount");
        hub.bridge(terms, route, new bytes32[](0), "");
    }

    function test_reverts_whenCircleAsksForMoreThanIsPinned() public {
        (Terms memory terms, Route memory route) = fundedAway(5e6);
        away.messenger.setMinFee(14_100);
        vm.expectRevert("Insufficient max fee");
        hub.bridge(terms, route, new bytes32[](0), "");
        away.messenger.setMinFee(14_000);
        hub.bridge(terms, route, new bytes32[](0), "");
    }

    /// @dev The two leaves of a pair, 30 bps fast and 10 bps standard, at their least amount of two units: whatever minimum
    /// fee Circle asks up to the cap, every amount from there on is burned.
    function test_leavesBurnEveryAmountFromTwoUnitsOn(uint256 units, uint256 minFee) public {
        uint32[2] memory caps = [uint32(3_000), 1_000];
        for (uint256 i = 0; i < caps.length; ++i) {
            ICctpV2Adapter.Config memory config = configHome();
            (config.feePpmMax, config.finalityThresholdMin) = (caps[i], i == 0 ? FAST : STANDARD);
            Route memory route = routeWith(config);
            route.minAmount = 2;
            Terms memory terms = cctpTerms(route);
            uint256 amount = 2 + (i == 0 ? units % 10 : units % (BURN_LIMIT - 1));
            away.messenger.setMinFee(minFee % (10 * caps[i] + 1));
            away.usdc.mint(hub.inboxOf(terms), amount);
            assertEq(hub.bridge(terms, route, new bytes32[](0), ""), amount);
            assertEq(away.usdc.balanceOf(hub.inboxOf(terms)), 0);
        }
    }

    function test_oneUnitIsBelowTheMinimum() public {
        Route memory route = routeWith(configHome());
        route.minAmount = 2;
        Terms memory terms = cctpTerms(route);
        away.usdc.mint(hub.inboxOf(terms), 1);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.BelowMinimum.selector, 1, 2));
        hub.bridge(terms, route, new bytes32[](0), "");
    }

    /// @dev What the burn limit leaves over below the minimum waits for the next deposit, and goes with it.
    function test_aRemainderBelowTheMinimumGoesWithTheNextDeposit() public {
        (Terms memory terms, Route memory route) = fundedAway(BURN_LIMIT + 1);
        assertEq(hub.bridge(terms, route, new bytes32[](0), ""), BURN_LIMIT);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.BelowMinimum.selector, 1, 1e6));
        hub.bridge(terms, route, new bytes32[](0), "");
        away.usdc.mint(hub.inboxOf(terms), 5e6);
        assertEq(hub.bridge(terms, route, new bytes32[](0), ""), 5e6 + 1);
        assertEq(away.usdc.balanceOf(hub.inboxOf(terms)), 0);
    }

    function test_reverts_whenCircleRefusesTheSender() public {
        (Terms memory terms, Route memory route) = fundedAway(5e6);
        away.messenger.denylist(hub.inboxOf(terms));
        vm.expectRevert("Denylistable: account is on denylist");
        hub.bridge(terms, route, new bytes32[](0), "");
        assertEq(away.usdc.balanceOf(hub.inboxOf(terms)), 5e6);
    }

    function test_reverts_whenNobodyReceivesInThatDomain() public {
        ICctpV2Adapter.Config memory config = configHome();
        config.domain = 404;
        Route memory route = routeWith(config);
        Terms memory terms = cctpTerms(route);
        away.usdc.mint(hub.inboxOf(terms), 5e6);
        vm.expectRevert("No TokenMessenger for domain");
        hub.bridge(terms, route, new bytes32[](0), "");
    }

    function test_reverts_whenTheIssuerRefuses_andTheMoneyStays() public {
        (Terms memory terms, Route memory route) = fundedAway(5e6);
        away.usdc.pause();
        vm.expectRevert(SafeTransferLib.ApproveFailed.selector);
        hub.bridge(terms, route, new bytes32[](0), "");
        away.usdc.unpause();
        away.usdc.blacklist(hub.inboxOf(terms));
        vm.expectRevert("Blacklistable: account is blacklisted");
        hub.bridge(terms, route, new bytes32[](0), "");
        assertEq(away.usdc.balanceOf(hub.inboxOf(terms)), 5e6);
    }

    function test_reverts_whenTheConfigIsNoConfig() public {
        Route memory route = routeWith(configHome());
        route.config = hex"0102";
        Terms memory terms = cctpTerms(route);
        away.usdc.mint(hub.inboxOf(terms), 5e6);
        (bool sent,) = address(hub).call(abi.encodeCall(hub.bridge, (terms, route, new bytes32[](0), "")));
        assertTrue(!sent, "sent by a route without settings");
    }

    function solana(bytes32 recipient) private view returns (Terms memory terms, Route memory route) {
        ICctpV2Adapter.Config memory config = configHome();
        (config.domain, config.recipient) = (SOLANA, recipient);
        route = routeWith(config);
        terms = cctpTerms(route);
        (terms.settleChainId, terms.settleToken, terms.payout) = (0, address(0), address(0));
    }
}
