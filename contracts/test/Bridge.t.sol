// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Route, Terms} from "../src/Terms.sol";
import {CallingAdapter, EagerAdapter, LazyAdapter, ReachingAdapter} from "./adapters/OddAdapters.sol";
import {WireAdapter} from "./adapters/WireAdapter.sol";
import {BridgeBaseTest} from "./BridgeBase.t.sol";
import {Routes} from "./Routes.sol";
import {BlockingToken, UnreadableToken} from "./tokens/OddTokens.sol";

contract BridgeTest is BridgeBaseTest {
    using Routes for Route[];

    event Bridged(address indexed inbox, address indexed token, uint256 amount, address adapter);

    function test_sendsEverythingByThePinnedRoute(uint256 units, bytes calldata quote) public {
        vm.assume(units > 0 && quote.length != 13);
        Terms memory terms = routedTerms(listOf(usualRoute()));
        token.mint(hub.inboxOf(terms), units);
        vm.expectEmit(address(hub));
        emit Bridged(hub.inboxOf(terms), address(token), units, address(adapter));
        assertEq(hub.bridge(terms, usualRoute(), noProof(), quote), units);
        assertEq(arrived(terms, address(token)), units);
        assertEq(token.balanceOf(address(wire)), units);
        assertEq(token.balanceOf(hub.inboxOf(terms)), 0);
    }

    function test_anyoneMayBridge(address caller) public {
        vm.assume(caller != address(0));
        Terms memory terms = routedTerms(listOf(usualRoute()));
        token.mint(hub.inboxOf(terms), 10_000);
        vm.prank(caller);
        hub.bridge(terms, usualRoute(), noProof(), "");
        assertEq(arrived(terms, address(token)), 10_000);
    }

    function test_everyRouteOfATreeIsFound(uint256 count, uint256 index) public {
        Route[] memory routes = new Route[](1 + count % 20);
        index = index % routes.length;
        for (uint256 i = 0; i < routes.length; ++i) {
            routes[i] = usualRoute();
            routes[i].minAmount = i;
        }
        Terms memory terms = routedTerms(routes);
        token.mint(hub.inboxOf(terms), 10_000);
        hub.bridge(terms, routes[index], routes.proofOf(index), "");
        assertEq(arrived(terms, address(token)), 10_000);
    }

    function test_nothingThere_createsNothingAndTellsNothing() public {
        Route memory route = usualRoute();
        route.minAmount = 500;
        Terms memory terms = routedTerms(listOf(route));
        vm.recordLogs();
        assertEq(hub.bridge(terms, route, noProof(), ""), 0);
        assertEq(vm.getRecordedLogs().length, 0);
        assertEq(hub.inboxOf(terms).code.length, 0);
    }

    function test_secondRunMovesNothing_andLaterMoneyIsSentToo() public {
        Terms memory terms = routedTerms(listOf(usualRoute()));
        token.mint(hub.inboxOf(terms), 10_000);
        hub.bridge(terms, usualRoute(), noProof(), "");
        assertEq(hub.bridge(terms, usualRoute(), noProof(), ""), 0);
        token.mint(hub.inboxOf(terms), 5);
        assertEq(hub.bridge(terms, usualRoute(), noProof(), ""), 5);
        assertEq(wire.calls(), 2);
    }

    function test_carriesNoMoreThanTheAdapterTakes(uint128 units, uint128 limit) public {
        vm.assume(units > 0 && limit > 0);
        Route memory route = usualRoute();
        route.config = abi.encode(wire, limit);
        Terms memory terms = routedTerms(listOf(route));
        token.mint(hub.inboxOf(terms), units);
        uint256 expected = units < limit ? units : limit;
        vm.expectEmit(address(hub));
        emit Bridged(hub.inboxOf(terms), address(token), expected, address(adapter));
        assertEq(hub.bridge(terms, route, noProof(), ""), expected);
        assertEq(arrived(terms, address(token)), expected);
        assertEq(token.balanceOf(hub.inboxOf(terms)), units - expected);
    }

    function test_exactlyTheMinimumIsEnough() public {
        Route memory route = usualRoute();
        route.minAmount = 500;
        Terms memory terms = routedTerms(listOf(route));
        token.mint(hub.inboxOf(terms), 500);
        assertEq(hub.bridge(terms, route, noProof(), ""), 500);
    }

    function test_nativeCoin_whereTheAdapterTakesIt() public {
        Route memory route = usualRoute();
        route.token = address(0);
        Terms memory terms = routedTerms(listOf(route));
        vm.deal(hub.inboxOf(terms), 1 ether);
        hub.bridge(terms, route, noProof(), "");
        assertEq(arrived(terms, address(0)), 1 ether);
        assertEq(address(wire).balance, 1 ether);
    }

    function test_otherTokensOfTheInboxStay() public {
        Terms memory terms = routedTerms(listOf(usualRoute()));
        address inbox = hub.inboxOf(terms);
        BlockingToken other = new BlockingToken();
        token.mint(inbox, 10_000);
        other.mint(inbox, 777);
        vm.deal(inbox, 1 ether);
        hub.bridge(terms, usualRoute(), noProof(), "");
        assertEq(other.balanceOf(inbox), 777);
        assertEq(inbox.balance, 1 ether);
    }

    /// @dev The fee is taken once, where the payout is.
    function test_noFeeIsTakenHere() public {
        Terms memory terms = routedTerms(listOf(usualRoute()));
        token.mint(hub.inboxOf(terms), 10_000);
        hub.bridge(terms, usualRoute(), noProof(), "");
        assertEq(arrived(terms, address(token)), 10_000);
        assertEq(token.balanceOf(feeRecipient), 0);
    }

    function test_everyCallBackIntoTheHubIsRefused() public {
        CallingAdapter calling = new CallingAdapter();
        for (uint256 choice = 0; choice < 6; ++choice) {
            Route memory route = usualRoute();
            (route.adapter, route.config) = (address(calling), abi.encode(wire, choice));
            Terms memory terms = routedTerms(listOf(route));
            address inbox = hub.inboxOf(terms);
            token.mint(inbox, 10_000);
            vm.expectEmit(inbox);
            emit CallingAdapter.Answered(IInboxHub.Entered.selector);
            hub.bridge(terms, route, noProof(), "");
        }
    }

    /// @dev Anybody can make terms whose route names an adapter of their own. It runs as their inbox and reaches no other.
    function test_anAdapterReachesNoOtherInbox() public {
        Terms memory victim = routedTerms(listOf(usualRoute()));
        address inbox = hub.inboxOf(victim);
        token.mint(inbox, 20_000);
        hub.bridge(victim, usualRoute(), noProof(), "");
        token.mint(inbox, 10_000);
        Route memory route = usualRoute();
        (route.adapter, route.config) = (address(new ReachingAdapter()), abi.encode(inbox, stranger));
        Terms memory thief = routedTerms(listOf(route));
        token.mint(hub.inboxOf(thief), 5);
        for (uint256 i = 0; i < 3; ++i) {
            vm.expectEmit(hub.inboxOf(thief));
            emit ReachingAdapter.Tried(false);
        }
        hub.bridge(thief, route, noProof(), "");
        assertEq(token.balanceOf(inbox), 10_000);
        assertEq(token.balanceOf(stranger), 5);
    }

    function test_reverts_whenThisIsTheSettleChain() public {
        Route memory route = usualRoute();
        route.chainId = HOME;
        Terms memory terms = routedTerms(listOf(route));
        token.mint(hub.inboxOf(terms), 10_000);
        vm.chainId(HOME);
        vm.expectRevert(IInboxHub.SettledHere.selector);
        hub.bridge(terms, route, noProof(), "");
    }

    function test_reverts_whenTheRouteBelongsToAnotherChain(uint64 chainId) public {
        vm.assume(chainId != AWAY);
        Route memory route = usualRoute();
        route.chainId = chainId;
        Terms memory terms = routedTerms(listOf(route));
        token.mint(hub.inboxOf(terms), 10_000);
        vm.expectRevert(IInboxHub.WrongChain.selector);
        hub.bridge(terms, route, noProof(), "");
    }

    function test_reverts_whenTheFeeIsAboveTheCap(uint16 feeBps) public {
        vm.assume(feeBps > 1_000);
        Terms memory terms = routedTerms(listOf(usualRoute()));
        terms.feeBps = feeBps;
        token.mint(hub.inboxOf(terms), 10_000);
        vm.expectRevert(IInboxHub.FeeTooHigh.selector);
        hub.bridge(terms, usualRoute(), noProof(), "");
    }

    function test_reverts_whenTheTermsHaveNoRoutes(bytes32[] calldata proof) public {
        Terms memory terms = routedTerms(new Route[](0));
        assertEq(terms.routesRoot, 0);
        token.mint(hub.inboxOf(terms), 10_000);
        expectNoSuchRoute(usualRoute());
        hub.bridge(terms, usualRoute(), proof, "");
    }

    /// @dev The route of the terms with one field exchanged.
    function test_reverts_whenTheTermsDoNotCommitToTheRoute(uint256 field, uint256 value, bytes calldata config)
        public
    {
        Terms memory terms = routedTerms(listOf(usualRoute()));
        token.mint(hub.inboxOf(terms), 10_000);
        Route memory route = usualRoute();
        field = field % 4;
        if (field == 0) route.token = address(uint160(value));
        if (field == 1) route.adapter = address(uint160(value));
        if (field == 2) route.minAmount = value | 1;
        if (field == 3) route.config = config;
        vm.assume(Routes.leafOf(route) != terms.routesRoot);
        expectNoSuchRoute(route);
        hub.bridge(terms, route, noProof(), "");
    }

    function test_reverts_whenTheProofBelongsToAnotherRoute() public {
        Route[] memory routes = new Route[](2);
        (routes[0], routes[1]) = (usualRoute(), usualRoute());
        routes[1].minAmount = 1;
        Terms memory terms = routedTerms(routes);
        token.mint(hub.inboxOf(terms), 10_000);
        expectNoSuchRoute(routes[0]);
        hub.bridge(terms, routes[0], routes.proofOf(1), "");
    }

    function test_reverts_whenTheProofIsLongerOrShorter() public {
        Route[] memory routes = new Route[](4);
        for (uint256 i = 0; i < 4; ++i) {
            routes[i] = usualRoute();
            routes[i].minAmount = i;
        }
        Terms memory terms = routedTerms(routes);
        token.mint(hub.inboxOf(terms), 10_000);
        bytes32[] memory proof = routes.proofOf(2);
        bytes32[] memory shorter = new bytes32[](1);
        shorter[0] = proof[0];
        expectNoSuchRoute(routes[2]);
        hub.bridge(terms, routes[2], shorter, "");
        bytes32[] memory longer = new bytes32[](3);
        (longer[0], longer[1], longer[2]) = (proof[0], proof[1], terms.routesRoot);
        expectNoSuchRoute(routes[2]);
        hub.bridge(terms, routes[2], longer, "");
    }

    function test_reverts_whenBelowTheMinimum(uint256 units, uint256 minAmount) public {
        vm.assume(units > 0 && units < minAmount);
        Route memory route = usualRoute();
        route.minAmount = minAmount;
        Terms memory terms = routedTerms(listOf(route));
        token.mint(hub.inboxOf(terms), units);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.BelowMinimum.selector, units, minAmount));
        hub.bridge(terms, route, noProof(), "");
    }

    function test_reverts_whenTheBalanceCannotBeRead() public {
        Route memory route = usualRoute();
        route.token = address(new UnreadableToken());
        Terms memory terms = routedTerms(listOf(route));
        vm.expectRevert(IInboxHub.BalanceUnreadable.selector);
        hub.bridge(terms, route, noProof(), "");
    }

    function test_reverts_whenThereIsNoAdapter() public {
        Route memory route = usualRoute();
        route.adapter = stranger;
        Terms memory terms = routedTerms(listOf(route));
        token.mint(hub.inboxOf(terms), 10_000);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.NoAdapter.selector, stranger));
        hub.bridge(terms, route, noProof(), "");
    }

    function test_reverts_whenTheAdapterLeavesSomething() public {
        adapter = new LazyAdapter();
        Terms memory terms = routedTerms(listOf(usualRoute()));
        token.mint(hub.inboxOf(terms), 10_000);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.UnitsLeft.selector, 1, 0));
        hub.bridge(terms, usualRoute(), noProof(), "");
    }

    function test_reverts_whenTheAdapterTakesMoreThanItWasTold() public {
        adapter = new EagerAdapter();
        Route memory route = usualRoute();
        route.config = abi.encode(wire, 100);
        Terms memory terms = routedTerms(listOf(route));
        token.mint(hub.inboxOf(terms), 10_000);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.UnitsLeft.selector, 9_899, 9_900));
        hub.bridge(terms, route, noProof(), "");
    }

    function test_reverts_whenTheAdapterDoes_withItsReason() public {
        Terms memory terms = routedTerms(listOf(usualRoute()));
        token.mint(hub.inboxOf(terms), 10_000);
        bytes memory quote = "thirteen char";
        vm.expectRevert(abi.encodeWithSelector(WireAdapter.QuoteRefused.selector, quote));
        hub.bridge(terms, usualRoute(), noProof(), quote);
        assertEq(token.balanceOf(hub.inboxOf(terms)), 10_000);
    }

    function test_reverts_whenTheTokenRefuses() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        Terms memory terms = routedTerms(listOf(usualRoute()));
        token.mint(hub.inboxOf(terms), 10_000);
        issuer.setBlocked(hub.inboxOf(terms), true);
        vm.expectRevert("not sent");
        hub.bridge(terms, usualRoute(), noProof(), "");
    }

    function expectNoSuchRoute(Route memory route) private {
        bytes32 leaf = Routes.leafOf(route);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.NoSuchRoute.selector, leaf));
    }
}
