// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ICctpV2Adapter} from "../../src/ICctpV2Adapter.sol";
import {IInboxHub} from "../../src/IInboxHub.sol";
import {Route, Terms} from "../../src/Terms.sol";
import {Wire, WireAdapter} from "../adapters/WireAdapter.sol";
import {Message} from "../cctp/Message.sol";
import {CctpWorld} from "../cctp/World.sol";
import {Routes} from "../Routes.sol";
import {HookToken} from "../tokens/OddTokens.sol";
import {PlainToken} from "../tokens/PlainToken.sol";
import {ThiefAdapter, ThiefTransmitter} from "./Thieves.sol";

/// @dev Three merchants, each with four inboxes whose terms differ only in the salt: one paid in USDC over routes, one in an
/// ordinary token with hooks and the highest fee, one on Solana. And the account of what came in to them.
contract Merchants is CctpWorld {
    using Message for bytes;
    using Routes for Route[];

    uint256 public constant MERCHANTS = 3;
    uint256 public constant TOKENS = 5;
    uint256 internal constant SALTS = 4;
    bytes32 internal constant SOLANA_ACCOUNT = keccak256("a token account");

    struct Passage {
        bytes message;
        uint256 merchant;
        address inbox;
        uint256 amount;
        uint256 feeMax;
    }

    Wire public wire = new Wire();
    WireAdapter internal wireAdapter = new WireAdapter();
    PlainToken internal hook = new HookToken();
    ThiefAdapter internal thiefAdapter = new ThiefAdapter();
    ThiefTransmitter internal thiefTransmitter = new ThiefTransmitter();
    address[TOKENS] public tokens;
    Route[][MERCHANTS] internal routes;
    Passage[] internal passages;
    Terms[SALTS][MERCHANTS] internal allTerms;
    address[SALTS][MERCHANTS] internal inboxes;

    uint64 internal chainId;
    uint256 internal time;

    mapping(uint256 merchant => mapping(uint256 token => uint256)) public deposited;
    mapping(uint256 merchant => mapping(uint256 token => uint256)) public burnt;
    mapping(uint256 merchant => mapping(uint256 token => uint256)) public settlements;
    mapping(uint256 token => uint256) public donated;
    mapping(uint256 merchant => bool) public feeWasRefused;
    uint256 public minted;
    /// @dev Tells the steps of a sequence apart.
    uint256 public steps;

    /// @dev Not `setUp`, so that no runner calls it by itself.
    function begin() external {
        CctpWorld.setUp();
        (chainId, time) = (away.chainId, RECOVER_AFTER - 180 days);
        tokens = [address(home.usdc), address(away.usdc), address(token), address(hook), address(0)];
        for (uint256 merchant = 0; merchant < MERCHANTS; ++merchant) {
            addRoutes(merchant);
            for (uint256 salt = 0; salt < SALTS; ++salt) {
                allTerms[merchant][salt] = makeTerms(merchant, salt);
                inboxes[merchant][salt] = hub.inboxOf(allTerms[merchant][salt]);
            }
        }
    }

    function addRoutes(uint256 merchant) internal {
        ICctpV2Adapter.Config memory config = configHome();
        if (merchant == 2) (config.domain, config.recipient) = (SOLANA, SOLANA_ACCOUNT);
        routes[merchant].push(routeWith(config));
        for (uint256 i = 2; i < TOKENS; ++i) {
            Route memory route = routeWith(config);
            (route.token, route.adapter) = (tokens[i], address(wireAdapter));
            (route.minAmount, route.config) = (10, abi.encode(wire, 1e12));
            routes[merchant].push(route);
        }
        // A trap on the settle chain: it must stay shut.
        Route memory trap = routes[merchant][1];
        trap.chainId = home.chainId;
        routes[merchant].push(trap);
        trap.token = address(home.usdc);
        routes[merchant].push(trap);
    }

    // What the money may reach.

    function payoutOf(uint256 merchant) public pure returns (address) {
        return vm.addr(100 + merchant);
    }

    function feeRecipientOf(uint256 merchant) public pure returns (address) {
        return vm.addr(200 + merchant);
    }

    function recoveryOf(uint256 merchant) public pure returns (address) {
        return vm.addr(300 + merchant);
    }

    function safeOf(uint256 merchant) public pure returns (address) {
        return vm.addr(400 + merchant);
    }

    function feeBpsOf(uint256 merchant) public pure returns (uint16) {
        return merchant == 1 ? 1_000 : 50;
    }

    function termsAt(uint256 merchant, uint256 salt) internal view returns (Terms memory) {
        return allTerms[merchant][salt % SALTS];
    }

    function inboxAt(uint256 merchant, uint256 salt) public view returns (address) {
        return inboxes[merchant][salt % SALTS];
    }

    function makeTerms(uint256 merchant, uint256 salt) internal view returns (Terms memory) {
        return Terms({
            salt: bytes32(salt),
            settleChainId: merchant == 2 ? 0 : home.chainId,
            settleToken: merchant == 0 ? tokens[0] : merchant == 1 ? tokens[3] : address(0),
            payout: merchant == 2 ? address(0) : payoutOf(merchant),
            feeRecipient: feeRecipientOf(merchant),
            feeBps: feeBpsOf(merchant),
            recovery: recoveryOf(merchant),
            recoverAfter: RECOVER_AFTER,
            routesRoot: routes[merchant].rootOf()
        });
    }

    function balanceOf(uint256 index, address holder) public view returns (uint256) {
        return index == 4 ? holder.balance : PlainToken(tokens[index]).balanceOf(holder);
    }

    /// @dev What the four inboxes of a merchant hold.
    function heldOf(uint256 merchant, uint256 index) public view returns (uint256 held) {
        for (uint256 salt = 0; salt < SALTS; ++salt) {
            held += balanceOf(index, inboxAt(merchant, salt));
        }
    }

    function wiredOf(uint256 merchant, uint256 index) public view returns (uint256 wired) {
        // The USDC of the other chain is burned instead.
        if (index == 1) return 0;
        for (uint256 salt = 0; salt < SALTS; ++salt) {
            wired += wire.arrived(inboxAt(merchant, salt), tokens[index]);
        }
    }

    function theHub() external view returns (IInboxHub) {
        return hub;
    }

    function theAdapters() external view returns (address[2] memory) {
        return [address(cctp), address(wireAdapter)];
    }

    function isSolanaAccount(uint256 merchant) internal pure returns (bool) {
        return merchant == 2;
    }
}
