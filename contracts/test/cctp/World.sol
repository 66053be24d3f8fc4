// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ICctpV2Adapter} from "../../src/ICctpV2Adapter.sol";
import {Route, Terms} from "../../src/Terms.sol";
import {BaseTest} from "../Base.t.sol";
import {FiatToken, FiatTokenDeployer} from "../FiatToken.sol";
import {Routes} from "../Routes.sol";
import {Log} from "../Vm.sol";
import {Message} from "./Message.sol";
import {MessageTransmitter} from "./MessageTransmitter.sol";
import {TokenMessenger} from "./TokenMessenger.sol";
import {TokenMinter} from "./TokenMinter.sol";

/// @dev Two chains in one: the chain id says which of them we are on. Each has Circle's own token and contracts that behave
/// as Circle's bridge; the hub has one address on both, so an inbox has too. The tests begin on AWAY.
abstract contract CctpWorld is BaseTest {
    using Message for bytes;
    using Routes for Route[];

    struct Side {
        uint64 chainId;
        uint32 domain;
        FiatToken usdc;
        MessageTransmitter transmitter;
        TokenMinter minter;
        TokenMessenger messenger;
    }

    uint256 internal constant ATTESTER_KEY = 77;
    uint32 internal constant SOLANA = 5;
    uint32 internal constant FAST = 1_000;
    uint32 internal constant STANDARD = 2_000;
    uint256 internal constant BURN_LIMIT = 10_000_000e6;

    Side internal home;
    Side internal away;
    ICctpV2Adapter internal cctp = deployAdapter();
    address internal bridgeFees = vm.addr(5);
    uint256 private nonces;

    function setUp() public virtual override {
        super.setUp();
        home = deploySide(8_453, 6);
        away = deploySide(10, 2);
        link(home, away);
        link(away, home);
        away.messenger.addRemoteTokenMessenger(SOLANA, keccak256("a program"));
        vm.recordLogs();
        vm.chainId(away.chainId);
    }

    function deployAdapter() private returns (ICctpV2Adapter) {
        bytes memory code = vm.getCode("CctpV2Adapter.sol:CctpV2Adapter");
        address created;
        assembly {
            created := create(0, add(code, 0x20), mload(code))
        }
        return ICctpV2Adapter(created);
    }

    function deploySide(uint64 chainId, uint32 domain) private returns (Side memory side) {
        side.chainId = chainId;
        side.domain = domain;
        side.usdc = FiatTokenDeployer.deploy(vm.addr(98));
        side.transmitter = new MessageTransmitter(domain, vm.addr(ATTESTER_KEY));
        side.minter = new TokenMinter();
        side.messenger = new TokenMessenger(side.transmitter, side.minter, bridgeFees);
        side.minter.setMessenger(address(side.messenger));
        side.minter.setBurnLimit(address(side.usdc), BURN_LIMIT);
        side.usdc.configureMinter(address(side.minter), type(uint256).max);
    }

    function link(Side memory here, Side memory there) private {
        here.messenger.addRemoteTokenMessenger(there.domain, bytes32(uint256(uint160(address(there.messenger)))));
        here.minter.linkTokenPair(here.usdc, there.domain, address(there.usdc));
    }

    /// @dev Fast, at most 14 bps, from 1 USDC.
    function configHome() internal view returns (ICctpV2Adapter.Config memory) {
        return ICctpV2Adapter.Config({
            messenger: address(away.messenger),
            domain: home.domain,
            finalityThresholdMin: FAST,
            feePpmMax: 1_400,
            recipient: 0
        });
    }

    function routeWith(ICctpV2Adapter.Config memory config) internal view returns (Route memory) {
        return Route({
            chainId: away.chainId,
            token: address(away.usdc),
            adapter: address(cctp),
            minAmount: 1e6,
            config: abi.encode(config)
        });
    }

    function cctpTerms(Route memory route) internal view returns (Terms memory terms) {
        Route[] memory routes = new Route[](1);
        routes[0] = route;
        terms = termsOf(0);
        (terms.settleChainId, terms.settleToken) = (home.chainId, address(home.usdc));
        terms.routesRoot = routes.rootOf();
    }

    /// @dev Terms of an inbox that holds `units` on AWAY, and its route.
    function fundedAway(uint256 units) internal returns (Terms memory terms, Route memory route) {
        route = routeWith(configHome());
        terms = cctpTerms(route);
        away.usdc.mint(hub.inboxOf(terms), units);
    }

    function burn(Terms memory terms, Route memory route) internal returns (bytes memory message) {
        hub.bridge(terms, route, new bytes32[](0), "");
        return lastMessage();
    }

    /// @dev The bytes of the newest MessageSent since this was last asked.
    function lastMessage() internal returns (bytes memory message) {
        Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] == MessageTransmitter.MessageSent.selector) {
                message = abi.decode(logs[i].data, (bytes));
            }
        }
        require(message.length != 0, "no message was sent");
    }

    /// @dev What Circle's attesters do: give the burn a nonce, say how final it was and what that costs, and sign.
    function attest(bytes memory message, uint32 threshold, uint256 fee) internal returns (bytes memory attestation) {
        message.setWord(Message.NONCE, keccak256(abi.encode("nonce", ++nonces)));
        return reattest(message, threshold, fee, threshold < STANDARD ? block.number + 100 : 0);
    }

    /// @dev The same burn signed again, under the nonce that it has.
    function reattest(bytes memory message, uint32 threshold, uint256 fee, uint256 expirationBlock)
        internal
        pure
        returns (bytes memory attestation)
    {
        message.setNumber(Message.THRESHOLD_EXECUTED, threshold);
        message.setWord(Message.BODY + Message.FEE_EXECUTED, bytes32(fee));
        message.setWord(Message.BODY + Message.EXPIRATION_BLOCK, bytes32(expirationBlock));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(ATTESTER_KEY, keccak256(message));
        return abi.encodePacked(r, s, v);
    }
}
