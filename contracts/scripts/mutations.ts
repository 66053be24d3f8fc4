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
    ["nets the native coin", "if (token == address(0)) revert NativeNotNetted();", ""],
    [
      "pays out what lies in the hub",
      "batch.gross - batch.fee, shared.feeRecipient",
      "received - batch.fee + unitsBefore, shared.feeRecipient",
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
    ["does not look what the adapter took", "if (left != units - gross) revert UnitsLeft(left, units - gross);", ""],
    ["takes the fee on both chains", "if (terms.settleChainId != 0) return 0;", ""],
    [
      "takes the fee of what stays",
      "_takeFee(inbox, terms, route.token, gross)",
      "_takeFee(inbox, terms, route.token, units)",
    ],
    [
      "takes no fee before a Solana payout",
      "fee = Inbox(payable(inbox)).payFee(token, terms.feeRecipient, fee);",
      "fee = 0;",
    ],
    [
      "settles only what it received",
      "(gross, failure) = _settle(terms);\n        if (failure != 0) _revertWith(failure);\n    }\n\n    function rescue",
      "if (received) (gross, failure) = _settle(terms);\n        if (failure != 0) _revertWith(failure);\n    }\n\n    function rescue",
    ],
  ]),
  ...inFile("Fee.sol", [
    ["rounds the fee up", "(units % BPS) * feeBps / BPS;", "((units % BPS) * feeBps + BPS - 1) / BPS;"],
  ]),
  ...inFile("Payment.sol", [
    [
      "pays the fee first",
      "if (!token.tryTransfer(payout, net, gasleft())) revert PayoutFailed();\n        if (fee == 0) return 0;\n        feePaid = payFee(token, feeRecipient, fee);",
      "if (fee != 0) feePaid = payFee(token, feeRecipient, fee);\n        if (!token.tryTransfer(payout, net, gasleft())) revert PayoutFailed();\n        if (fee == 0) return 0;",
    ],
    [
      "a refused fee stops the payout",
      "if (feePaid == 0 && !token.tryTransfer(payout, fee, gasleft())) revert PayoutFailed();",
      "if (feePaid == 0) revert PayoutFailed();",
    ],
    [
      "a refused fee stays in the inbox",
      "if (feePaid == 0 && !token.tryTransfer(payout, fee, gasleft())) revert PayoutFailed();",
      "",
    ],
    ["lets a caller starve the fee", "if (gasLeft < FEE_LEG_GAS_LEFT) revert FeeLegStarved();", ""],
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
    ["hides that an adapter failed", "revert(buffer, returndatasize())", "return(buffer, 0)"],
    [
      "takes a refused transfer for done",
      "if (!token.tryTransfer(to, units, gasleft())) revert Payment.TransferFailed();",
      "token.tryTransfer(to, units, gasleft());",
    ],
  ]),
  ...inFile("Command.sol", [
    ["pays the fee recipient alone", "mstore(add(buffer, 0x24), payout)", "mstore(add(buffer, 0x24), feeRecipient)"],
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
  ...inFile("Token.sol", [
    [
      "takes the answer false for done",
      "and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))) }",
      "gt(returndatasize(), 0x1f)) }",
    ],
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
