// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../../src/IInboxHub.sol";
import {Route, Terms} from "../../src/Terms.sol";
import {Message} from "../cctp/Message.sol";
import {FiatToken} from "../FiatToken.sol";
import {Routes} from "../Routes.sol";
import {PlainToken} from "../tokens/PlainToken.sol";
import {Merchants} from "./Merchants.sol";

/// @dev Makes whatever sequence of calls anyone can make, on two chains, and keeps account of what came in.
contract Anyone is Merchants {
    using Message for bytes;
    using Routes for Route[];

    // What anyone can do.

    modifier now_() {
        ++steps;
        vm.chainId(chainId);
        vm.warp(time);
        _;
    }

    function switchChain() external {
        chainId = chainId == home.chainId ? away.chainId : home.chainId;
    }

    function wait(uint256 duration) external {
        time += duration % 20 days;
    }

    function deposit(uint256 merchant, uint256 salt, uint256 index, uint64 units) external {
        (merchant, index) = (merchant % MERCHANTS, index % TOKENS);
        uint256 amount = 1 + uint256(units) % 1e13;
        if (give(index, inboxAt(merchant, salt), amount)) deposited[merchant][index] += amount;
    }

    function depositToTheHub(uint256 index, uint32 units) external {
        index = index % TOKENS;
        // The hub takes no native coin.
        if (index == 4) index = 3;
        give(index, address(hub), 1 + uint256(units));
        donated[index] += 1 + uint256(units);
    }

    function block_(uint256 merchant, uint256 who, bool blocked) external {
        merchant = merchant % MERCHANTS;
        address[3] memory all = [payoutOf(merchant), feeRecipientOf(merchant), inboxAt(merchant, who / 3)];
        if (blocked) {
            home.usdc.blacklist(all[who % 3]);
            away.usdc.blacklist(all[who % 3]);
            if (who % 3 == 1) feeWasRefused[merchant] = true;
        } else {
            home.usdc.unBlacklist(all[who % 3]);
            away.usdc.unBlacklist(all[who % 3]);
        }
    }

    function settle(uint256 merchant, uint256 salt, uint256 gasLimit) external now_ {
        merchant = merchant % MERCHANTS;
        count(merchant, 1, attempt(abi.encodeCall(IInboxHub.settle, (termsAt(merchant, salt))), gasLimit));
    }

    function settleMany(uint256 seed, uint256 length, uint256 gasLimit) external now_ {
        Terms[] memory items = new Terms[](length % 6);
        for (uint256 i = 0; i < items.length; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            items[i] = termsAt(seed % MERCHANTS, seed >> 8);
        }
        bool done = attempt(abi.encodeCall(IInboxHub.settleMany, (items, itemGasOf(seed))), gasLimit);
        for (uint256 merchant = 0; merchant < MERCHANTS; ++merchant) {
            count(merchant, items.length, done);
        }
    }

    function settleNetted(uint256 merchant, uint256 seed, uint256 length, uint256 gasLimit) external now_ {
        merchant = merchant % MERCHANTS;
        bytes32[] memory salts = new bytes32[](length % 6);
        for (uint256 i = 0; i < salts.length; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            salts[i] = bytes32(seed % (SALTS + 1));
        }
        bytes memory data = abi.encodeCall(IInboxHub.settleNetted, (termsAt(merchant, seed), salts, itemGasOf(seed)));
        count(merchant, salts.length, attempt(data, gasLimit));
    }

    function bridge(uint256 merchant, uint256 salt, uint256 choice, bytes calldata quote, uint256 gasLimit)
        external
        now_
    {
        merchant = merchant % MERCHANTS;
        choice = choice % routes[merchant].length;
        Route memory route = routes[merchant][choice];
        bytes memory sent = choice == 0 && gasLimit % 4 != 0 ? bytes("") : quote;
        passBy(merchant, salt, route, routes[merchant].proofOf(choice), sent, gasLimit);
    }

    /// @dev One field of a pinned route exchanged, or an adapter that takes everything, under a proof that fits another.
    function bridgeByAnotherRoute(uint256 merchant, uint256 salt, uint256 choice, uint256 value, uint256 gasLimit)
        external
        now_
    {
        merchant = merchant % MERCHANTS;
        Route memory route = routes[merchant][choice % routes[merchant].length];
        uint256 field = value % 5;
        if (field == 0) (route.adapter, route.config) = (address(thiefAdapter), abi.encode(stranger));
        if (field == 1) route.adapter = address(thiefAdapter);
        if (field == 2) route.config = abi.encode(stranger, type(uint256).max);
        if (field == 3) route.token = tokens[value / 5 % TOKENS];
        if (field == 4) (route.minAmount, route.chainId) = (0, uint64(chainId));
        bytes32[] memory proof = routes[merchant].proofOf(choice % routes[merchant].length);
        passBy(merchant, salt, route, proof, "", gasLimit);
    }

    function receiveAndSettle(uint256 passage, uint256 merchant, uint256 salt, uint256 seed, uint256 gasLimit)
        external
        now_
    {
        (bytes memory message, bytes memory attestation) = signedPassage(passage, seed);
        merchant = merchant % MERCHANTS;
        Terms memory terms = termsAt(merchant, salt);
        bytes memory data =
            abi.encodeCall(IInboxHub.receiveAndSettle, (address(home.transmitter), message, attestation, terms));
        count(merchant, 1, attempt(data, gasLimit));
        take(passage, message);
    }

    /// @dev A transmitter that calls the hub back in any way it likes.
    function receiveFromAThief(uint256 merchant, uint256 salt, uint256 choice, uint256 gasLimit) external now_ {
        merchant = merchant % MERCHANTS;
        Terms memory terms = termsAt(merchant, salt);
        thiefTransmitter.aim(hub, terms, routes[merchant][choice % routes[merchant].length], choice);
        bytes memory data = abi.encodeCall(IInboxHub.receiveAndSettle, (address(thiefTransmitter), "", "", terms));
        count(merchant, 1, attempt(data, gasLimit));
    }

    /// @dev Anybody may hand a message to Circle's contract without the hub.
    function relay(uint256 passage, uint256 seed) external now_ {
        (bytes memory message, bytes memory attestation) = signedPassage(passage, seed);
        try home.transmitter.receiveMessage(message, attestation) {} catch {}
        take(passage, message);
    }

    function rescue(uint256 merchant, uint256 salt, uint256 index, uint256 caller, uint256 gasLimit) external now_ {
        (merchant, index) = (merchant % MERCHANTS, index % TOKENS);
        Terms memory terms = termsAt(merchant, salt);
        address[5] memory callers =
            [stranger, payoutOf(merchant), feeRecipientOf(merchant), recoveryOf((merchant + 1) % 3), terms.recovery];
        address from = callers[caller % 7 > 4 ? 4 : caller % 7];
        address to = from == terms.recovery ? safeOf(merchant) : stranger;
        vm.prank(from);
        if (attempt(abi.encodeCall(IInboxHub.rescue, (terms, tokens[index], to)), gasLimit)) {
            bool atOnce = chainId == terms.settleChainId && tokens[index] != terms.settleToken;
            require(from == terms.recovery, "somebody else rescued");
            require(atOnce || time >= RECOVER_AFTER, "rescued before the date");
        }
    }

    /// @dev The true terms with one word exchanged: another inbox, which holds nothing.
    function useForgedTerms(uint256 merchant, uint256 salt, uint256 word, uint256 value, uint256 gasLimit)
        external
        now_
    {
        bytes memory encoded = abi.encode(termsAt(merchant % MERCHANTS, salt));
        word = word % 8 + 1;
        assembly {
            mstore(add(encoded, mul(0x20, add(word, 1))), value)
        }
        attempt(abi.encodePacked(IInboxHub.settle.selector, encoded), gasLimit);
        vm.prank(stranger);
        bytes memory tail = abi.encode(tokens[value % TOKENS], stranger);
        attempt(abi.encodePacked(IInboxHub.rescue.selector, encoded, tail), gasLimit);
    }

    function callAnInbox(uint256 merchant, uint256 salt, bytes calldata data) external now_ {
        address inbox = inboxAt(merchant % MERCHANTS, salt);
        vm.prank(stranger);
        (bool done,) = inbox.call(data);
        done;
        vm.prank(stranger);
        bytes memory send = abi.encodeWithSignature("send(address,address,uint256)", tokens[0], stranger, 1);
        (done,) = inbox.call(send);
    }

    // How it is done.

    function give(uint256 index, address to, uint256 units) private returns (bool given) {
        if (index == 4) vm.deal(to, to.balance + units);
        else if (index > 1) PlainToken(tokens[index]).mint(to, units);
        else return mintUsdc(index == 0 ? home.usdc : away.usdc, to, units);
        return true;
    }

    /// @dev The issuer mints nothing to a blocked inbox.
    function mintUsdc(FiatToken usdc, address to, uint256 units) private returns (bool given) {
        try usdc.mint(to, units) {
            return true;
        } catch {
            return false;
        }
    }

    function attempt(bytes memory data, uint256 gasLimit) private returns (bool done) {
        gasLimit = gasLimit % 3 == 0 ? 60_000 + gasLimit % 700_000 : 5_000_000;
        (done,) = address(hub).call{gas: gasLimit}(data);
    }

    /// @dev Enough, too little for some step of an item, or more than there is.
    function itemGasOf(uint256 seed) private pure returns (uint256) {
        uint256 choice = seed >> 128;
        if (choice % 4 == 0) return (choice >> 8) % 300_000;
        return choice % 17 == 1 ? choice << 100 : ITEM_GAS;
    }

    function count(uint256 merchant, uint256 most, bool done) private {
        if (done && merchant < 2) settlements[merchant][merchant == 0 ? 0 : 3] += most;
    }

    function passBy(
        uint256 merchant,
        uint256 salt,
        Route memory route,
        bytes32[] memory proof,
        bytes memory quote,
        uint256 gasLimit
    ) private {
        Terms memory terms = termsAt(merchant, salt);
        uint256 heldBefore = balanceOf(1, inboxAt(merchant, salt));
        vm.recordLogs();
        if (!attempt(abi.encodeCall(IInboxHub.bridge, (terms, route, proof, quote)), gasLimit)) return;
        for (uint256 index = 0; index < TOKENS; ++index) {
            if (tokens[index] == route.token) ++settlements[merchant][index];
        }
        if (route.token == address(away.usdc) && heldBefore > 0) noteBurn(merchant, inboxAt(merchant, salt));
    }

    function noteBurn(uint256 merchant, address inbox) private {
        bytes memory message = lastMessage();
        bytes memory body = message.body();
        uint256 amount = uint256(body.word(Message.AMOUNT));
        burnt[merchant][1] += amount;
        bytes32 to = isSolanaAccount(merchant) ? SOLANA_ACCOUNT : bytes32(uint256(uint160(inbox)));
        require(body.word(Message.MINT_RECIPIENT) == to, "burned for somebody else");
        require(message.word(Message.DESTINATION_CALLER) == 0, "somebody must be asked");
        uint256 feeMax = uint256(body.word(Message.FEE_MAX));
        require(feeMax <= (amount * 1_400 + 999_999) / 1_000_000, "the fee is above what is pinned");
        if (merchant != 2) passages.push(Passage(message, merchant, inbox, amount, feeMax));
    }

    function signedPassage(uint256 index, uint256 seed)
        private
        returns (bytes memory message, bytes memory attestation)
    {
        if (passages.length == 0) {
            return ("no message", "no attestation");
        }
        Passage storage passage = passages[index % passages.length];
        message = passage.message;
        uint32 threshold = seed % 2 == 0 ? FAST : STANDARD;
        uint256 fee = threshold == FAST ? seed % (passage.feeMax + 1) : 0;
        if (message.word(Message.NONCE) != 0) return (message, reattest(message, threshold, fee, 0));
        attestation = attest(message, threshold, fee);
        passage.message = message;
    }

    /// @dev Once a message is used, what it minted counts as come in, one time.
    function take(uint256 index, bytes memory message) private {
        if (passages.length == 0) return;
        Passage memory passage = passages[index % passages.length];
        if (home.transmitter.usedNonces(message.word(Message.NONCE)) == 0) return;
        uint256 fee = uint256(message.body().word(Message.FEE_EXECUTED));
        bool finalised = message.number(Message.THRESHOLD_EXECUTED) >= STANDARD;
        deposited[passage.merchant][0] += passage.amount - (finalised ? 0 : fee);
        ++minted;
        passages[index % passages.length] = passages[passages.length - 1];
        passages.pop();
    }
}
