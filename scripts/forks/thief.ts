import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { encodeFunctionData, parseAbi } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { SeededRandom } from "../../test/sim/seededRandom.ts";
import { DEPOSIT_UNITS, FEE_UNITS, openScene, settleData, type Scene } from "./scene.ts";
import type { Fork } from "./evm.ts";

// A stranger calls hub and inbox with whatever it likes. A unit is stolen when the inbox's money is neither where it
// was nor, to the last unit, at its payout and fee recipient.

const commandAbi = parseAbi([
  "function send(address token, address to, uint256 units)",
  "function distribute(address token, address payout, uint256 net, address feeRecipient, uint256 fee)",
  "function bridge((bytes32 salt, uint64 settleChainId, address settleToken, address payout, address feeRecipient, uint16 feeBps, address recovery, uint48 recoverAfter, bytes32 routesRoot) terms, (uint256 chainId, address token, address adapter, bytes config, uint256 minAmount) route, uint256 amount, bytes quote)",
]);

export type Outcome = { attempts: number; settled: number; stolenUnits: bigint };

const { stranger, payoutFirst: payout, feeRecipient } = DEV_ACCOUNTS;

export async function runThief(fork: Fork, attempts: number): Promise<Outcome> {
  const scene = await openScene(fork);
  const own = scene.terms("the victim");
  // The inbox exists and holds a second deposit, as in the suite for forge.
  await scene.fund(own);
  await scene.settle([own]);
  await scene.fund(own);
  const random = new SeededRandom("a stranger of forks");
  let [settled, stolenUnits] = [0, 0n];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const before = await balances(scene, own);
    await scene.chain.attempt(async () => {
      const { to, data, gasLimit } = drawCall(scene, own, random);
      await scene.chain.send(stranger, { to, data, gasLimit });
      const after = await balances(scene, own);
      if (after.inbox !== before.inbox) settled += 1;
      stolenUnits += stolen(before, after);
    });
  }
  return { attempts, settled, stolenUnits };
}

type Balances = { inbox: bigint; payout: bigint; fee: bigint };

async function balances(scene: Scene, terms: Terms): Promise<Balances> {
  return {
    inbox: await scene.inboxBalance(terms),
    payout: await scene.balanceOf(payout.address),
    fee: await scene.balanceOf(feeRecipient.address),
  };
}

/** What left the inbox and did not arrive in full. A fee may go to the payout where its own leg fails. */
function stolen(before: Balances, after: Balances): bigint {
  const left = before.inbox - after.inbox;
  const arrived = after.payout - before.payout + (after.fee - before.fee);
  const isWhole = left === 0n || left === DEPOSIT_UNITS;
  const feePaid = after.fee - before.fee;
  const isFeeRight = left === 0n ? feePaid === 0n : feePaid === FEE_UNITS || feePaid === 0n;
  return isWhole && isFeeRight && arrived === left ? 0n : left - arrived + 1n;
}

type Drawn = { to: Hex; data: Hex; gasLimit: bigint };

function drawCall(scene: Scene, own: Terms, random: SeededRandom): Drawn {
  const inbox = computeInboxAddress(own);
  const { token } = scene;
  const to = random.pick([hubAddress, inbox]);
  const units = random.pick([1n, DEPOSIT_UNITS, DEPOSIT_UNITS - 1n, DEPOSIT_UNITS * 2n]);
  const gasLimit = BigInt(random.between(60_000, 2_000_000));
  const changed = drawTerms(own, random);
  const itemGas = BigInt(random.between(0, 600_000));
  const salts = [own.salt, changed.salt, own.salt];
  const datas: readonly [() => Hex, ...(() => Hex)[]] = [
    () => encodeFunctionData({ abi: commandAbi, functionName: "send", args: [token, stranger.address, units] }),
    () =>
      encodeFunctionData({
        abi: commandAbi,
        functionName: "distribute",
        args: [
          token,
          stranger.address,
          units,
          stranger.address,
          DEPOSIT_UNITS - units > 0n ? DEPOSIT_UNITS - units : 0n,
        ],
      }),
    () => settleData([changed]),
    () => settleData([own]),
    () => encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [[own, changed, own], itemGas] }),
    () => encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args: [changed, salts, itemGas] }),
    () => encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args: [own, salts, itemGas] }),
    () => encodeFunctionData({ abi: hubAbi, functionName: "rescue", args: [changed, token, stranger.address] }),
    () => encodeFunctionData({ abi: hubAbi, functionName: "rescue", args: [own, token, stranger.address] }),
    () =>
      encodeFunctionData({
        abi: hubAbi,
        functionName: "receiveAndSettle",
        args: [random.pick([token, inbox, hubAddress]), "0x1234", "0x", random.pick([own, changed])],
      }),
    () =>
      `0x${Array.from({ length: random.between(0, 200) }, () => random.between(0, 255).toString(16).padStart(2, "0")).join("")}`,
  ];
  return { to, data: random.pick(datas)(), gasLimit };
}

/** The inbox's own terms with one field exchanged. */
function drawTerms(own: Terms, random: SeededRandom): Terms {
  const mine = stranger.address;
  return random.pick<Terms>([
    { ...own, payout: mine },
    { ...own, feeRecipient: mine },
    { ...own, feeBps: 1_000 },
    { ...own, recovery: mine },
    { ...own, recovery: mine, recoverAfter: 0 },
    { ...own, settleToken: hubAddress },
    { ...own, settleChainId: 2n },
    { ...own, routesRoot: `0x${"11".repeat(32)}` },
  ]);
}
