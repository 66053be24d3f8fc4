/** A plausible bug: a piece of one source file, and its replacement. */
export type Mutation = {
  readonly name: string;
  /** Relative to `contracts/src/`. */
  readonly file: string;
  /** Occurs exactly once in the file, which a test checks. */
  readonly search: string;
  readonly replace: string;
};

/** The bugs that the tests must catch, each by itself. */
export const mutations: readonly Mutation[] = [
  ...inHub([
    ["settles on any chain", "if (block.chainid != terms.settleChainId) return WrongChain.selector;", ""],
    ["settles at any fee", "if (terms.feeBps > FEE_BPS_MAX) return FeeTooHigh.selector;", ""],
    [
      "takes one basis point more",
      "uint256 fee = Fee.share(gross, terms.feeBps);",
      "uint256 fee = Fee.share(gross, terms.feeBps + 1);",
    ],
    ["forgets the lock", "entered = 1;", "entered = 0;"],
    ["stays locked", "_;\n        entered = 0;", "_;"],
    ["creates an inbox for nothing", "if (gross == 0) return (0, 0);", ""],
    [
      "one bad item stops a batch",
      "if (failure == 0) continue;",
      "if (failure == 0) continue;\n            _revertWith(failure);",
    ],
    ["hides what failed", "failures[i] = failure;\n            emit", "emit"],
    ["nets a token that keeps a part", "if (received < batch.gross) revert UnitsMissing(received, batch.gross);", ""],
    ["nets a token that keeps one unit", "if (received < batch.gross)", "if (received + 1 < batch.gross)"],
    ["nets the native coin", "if (token == address(0)) revert NativeNotBatched();", ""],
    ["settles the native coin in a batch", "if (terms.settleToken != address(0)) (, failure)", "(, failure)"],
    ["settles terms with dirty words", "if (!terms.isCanonical()) return MalformedTerms.selector;", ""],
    [
      "lets a caller starve an item",
      "if (gasleft() < gasNeeded) revert Starved(i);\n            items[i].copyTo(terms);",
      "items[i].copyTo(terms);",
    ],
    [
      "lets a caller starve a pull",
      "if (gasleft() < gasNeeded) revert Starved(i);\n            terms.salt = salts[i];",
      "terms.salt = salts[i];",
    ],
    [
      "names the item after the starved one",
      "revert Starved(i);\n            items[i].copyTo(terms);",
      "revert Starved(i + 1);\n            items[i].copyTo(terms);",
    ],
    ["reserves no gas besides that of the item", "itemGas / 63 + ITEM_GAS_RESERVE", "itemGas / 63"],
    ["reserves nothing for reading a balance", "ITEM_GAS_RESERVE = 160_000", "ITEM_GAS_RESERVE = 60_000"],
    ["forgets what a call keeps back", "itemGas + itemGas / 63 + ITEM_GAS_RESERVE", "itemGas + ITEM_GAS_RESERVE"],
    [
      "calculates with gas that does not exist",
      "return itemGas + itemGas / 63 + ITEM_GAS_RESERVE;",
      "unchecked {\n            return itemGas + itemGas / 63 + ITEM_GAS_RESERVE;\n        }",
    ],
    [
      "gives an item of a batch all gas",
      "_settle(terms, READ_GAS, itemGas)",
      "_settle(terms, READ_GAS, Command.ALL_GAS)",
    ],
    [
      "lets an item's balance burn everything",
      "_settle(terms, READ_GAS, itemGas)",
      "_settle(terms, Command.ALL_GAS, itemGas)",
    ],
    ["gives a pull all gas", "address(this), units, itemGas)", "address(this), units, Command.ALL_GAS)"],
    [
      "lets a pull's balance burn everything",
      "token.balanceOf(inbox, READ_GAS)",
      "token.balanceOf(inbox, Command.ALL_GAS)",
    ],
    ["lets an inbox act as the hub", "if (address(this) != HUB) revert NotHub(address(this));", ""],
    ["counts empty inboxes", "} else if (units != 0) {", "} else {"],
    ["bridges from inboxes that hold nothing", "if (units == 0) return 0;", ""],
    ["rescues to nobody", "if (to == address(0)) revert NoReceiver();", ""],
    ["rescues nothing", "if (units == 0) revert NothingToRescue();", ""],
    [
      "takes a refused rescue for done",
      "if (failure != 0) _revertWith(failure);\n        emit Rescued",
      "emit Rescued",
    ],
    [
      "pays out what lies in the hub",
      "batch.gross - batch.fee, terms.feeRecipient",
      "received - batch.fee + unitsBefore, terms.feeRecipient",
    ],
    [
      "nets the fee of the sum",
      "batch.fee += Fee.share(units, feeBps);",
      "batch.fee = Fee.share(batch.gross, feeBps);",
    ],
    ["lets anyone rescue", "if (msg.sender != terms.recovery) revert NotRecovery(msg.sender, terms.recovery);", ""],
    [
      "rescues before the date",
      "if (!neverSettled && block.timestamp < terms.recoverAfter) {",
      "if (!neverSettled && block.timestamp < terms.recoverAfter - 1 days) {",
    ],
    [
      "rescues at once on other chains",
      "block.chainid == terms.settleChainId && token != terms.settleToken",
      "token != terms.settleToken",
    ],
    [
      "rescues the settle token at once",
      "block.chainid == terms.settleChainId && token != terms.settleToken",
      "block.chainid == terms.settleChainId",
    ],
    [
      "skips the proof",
      "if (!MerkleProofLib.verifyCalldata(proof, terms.routesRoot, leaf)) revert NoSuchRoute(leaf);",
      "",
    ],
    ["bridges on the settle chain", "if (block.chainid == terms.settleChainId) revert SettledHere();", ""],
    ["bridges by a route of another chain", "if (block.chainid != route.chainId) revert WrongChain();", ""],
    ["bridges at any fee", "if (terms.feeBps > FEE_BPS_MAX) revert FeeTooHigh();", ""],
    ["ignores the minimum", "if (units < route.minAmount) revert BelowMinimum(units, route.minAmount);", ""],
    ["ignores what the adapter can carry", "_min(units, IAdapter(route.adapter).unitsMax(route))", "units"],
    ["does not look what the adapter took", "if (left != units - amount) revert UnitsLeft(left, units - amount);", ""],
    ["settles only what it received", "gross = _settleAlone(terms);", "if (received) gross = _settleAlone(terms);"],
    [
      "takes a failed settlement for done",
      "(gross, failure) = _settle(terms, Command.ALL_GAS, Command.ALL_GAS);\n        if (failure != 0) _revertWith(failure);",
      "(gross, failure) = _settle(terms, Command.ALL_GAS, Command.ALL_GAS);",
    ],
  ]),
  ...inFile("Fee.sol", [
    ["rounds the fee up", "(units % BPS) * feeBps / BPS;", "((units % BPS) * feeBps + BPS - 1) / BPS;"],
  ]),
  ...inFile("Payment.sol", [
    [
      "pays the fee first",
      "if (!token.tryTransfer(payout, net, gasleft())) revert PayoutFailed();\n        if (fee == 0) return 0;\n        uint256 gasLeft = gasleft();\n        if (token.tryTransfer(feeRecipient, fee, FEE_LEG_GAS)) return fee;",
      "uint256 gasLeft = gasleft();\n        bool paid = fee != 0 && token.tryTransfer(feeRecipient, fee, FEE_LEG_GAS);\n        if (!token.tryTransfer(payout, net, gasleft())) revert PayoutFailed();\n        if (fee == 0 || paid) return fee;",
    ],
    [
      "a refused fee stops the payout",
      "if (!token.tryTransfer(payout, fee, gasleft())) revert PayoutFailed();",
      "revert PayoutFailed();",
    ],
    ["a refused fee stays in the inbox", "if (!token.tryTransfer(payout, fee, gasleft())) revert PayoutFailed();", ""],
    ["lets a caller starve the fee", "if (gasLeft < FEE_LEG_GAS_LEFT) revert FeeLegStarved();", ""],
    ["lets a caller starve the fee a little", "FEE_LEG_GAS_LEFT = 220_000", "FEE_LEG_GAS_LEFT = 201_000"],
    [
      "lets the fee leg burn everything",
      "token.tryTransfer(feeRecipient, fee, FEE_LEG_GAS)",
      "token.tryTransfer(feeRecipient, fee, gasleft())",
    ],
    [
      "pays the fee to the payout",
      "token.tryTransfer(feeRecipient, fee, FEE_LEG_GAS)",
      "token.tryTransfer(msg.sender, fee, FEE_LEG_GAS)",
    ],
  ]),
  ...inFile("Inbox.sol", [
    ["obeys anybody", "if (msg.sender != HUB) revert NotHub(msg.sender);", ""],
    ["keeps coins in the hub", "if (address(this) == HUB) revert NoCoinsTaken();", ""],
    ["hides that an adapter failed", "revert(buffer, returndatasize())", "return(buffer, 0)"],
    [
      "takes a refused transfer for done",
      "if (!token.tryTransfer(to, units, gasleft())) revert Payment.TransferFailed();",
      "token.tryTransfer(to, units, gasleft());",
    ],
  ]),
  ...inFile("Command.sol", [
    [
      "pays the fee recipient alone",
      "mstore(add(buffer, 0x24), mload(add(terms, 0x60)))",
      "mstore(add(buffer, 0x24), mload(add(terms, 0x80)))",
    ],
    ["takes an inbox out of gas for paid", "if (failure == 0) failure = Payment.PayoutFailed.selector;", ""],
    [
      "believes any answer of a transmitter",
      "received := and(received, and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1)))",
      "received := and(received, gt(returndatasize(), 0x1f))",
    ],
  ]),
  ...inFile("Terms.sol", [
    ["hashes a leaf once", "return keccak256(abi.encode(once));", "return once;"],
    ["leaves the config out of the leaf", "keccak256(route.config)", "bytes32(0)"],
    [
      "leaves the routes out of the address",
      "calldatacopy(buffer, terms, ENCODED_BYTES)",
      "calldatacopy(buffer, terms, sub(ENCODED_BYTES, 0x20))",
    ],
  ]),
  ...inFile("Clone.sol", [
    [
      "creates the hub where its inboxes cannot name it",
      "if (short >> (160 - 8 * ZERO_BYTES) != 0) revert HubMisplaced(hub);",
      "",
    ],
  ]),
  ...inFile("Token.sol", [
    [
      "takes the answer false for done",
      "and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))) }",
      "gt(returndatasize(), 0x1f)) }",
    ],
    [
      "takes less than a word for an answer",
      "moved := and(moved, and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1)))",
      "moved := and(moved, eq(mload(0x00), 1))",
    ],
    ["reads a balance with all gas", "staticcall(gasLimit, token", "staticcall(gas(), token"],
    ["moves tokens that do not exist", "and(moved, iszero(iszero(extcodesize(token))))", "moved"],
    ["reads a balance that is none", "and(success, gt(returndatasize(), 0x1f))", "success"],
  ]),
  ...inFile("CctpV2Adapter.sol", [
    [
      "mints to somebody else",
      "return bytes32(uint256(uint160(address(this))));",
      "return bytes32(uint256(uint160(msg.sender)));",
    ],
    [
      "pays whom the route names instead of the inbox",
      "if (config.recipient != 0) revert RecipientPinned(config.recipient);",
      "if (config.recipient != 0) return config.recipient;",
    ],
    [
      "burns for nobody",
      "if (config.recipient == 0) revert RecipientMissing();",
      "if (config.recipient == 0) return bytes32(uint256(uint160(address(this))));",
    ],
    ["lets the bridge keep everything", "(units * config.feePpmMax + PPM - 1) / PPM", "units - 1"],
    ["rounds the bridge's fee down", "(units * config.feePpmMax + PPM - 1) / PPM", "units * config.feePpmMax / PPM"],
    ["lets one relayer hold the message", "bytes32(0),", "bytes32(uint256(uint160(tx.origin))),"],
    ["takes any quote", "if (quote.length != 0) revert QuoteNotTaken();", ""],
    ["waits for finality never", "config.finalityThresholdMin\n", "0\n"],
    ["runs by itself", "if (address(this) == SELF) revert NotDelegated();", ""],
    [
      "approves only once",
      "route.token.safeApproveWithRetry(config.messenger, units);",
      "route.token.safeApprove(config.messenger, units);",
    ],
  ]),
];

type MutationRow = readonly [name: string, search: string, replace: string];

function inHub(rows: readonly MutationRow[]): Mutation[] {
  return inFile("InboxHub.sol", rows);
}

function inFile(file: string, rows: readonly MutationRow[]): Mutation[] {
  return rows.map(([name, search, replace]) => ({ name, file, search, replace }));
}
