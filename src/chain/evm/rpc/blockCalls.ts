import type { BlockRef, BlockPlace } from "../../reader.ts";
import type { JsonRpcClient } from "../../rpc/jsonRpcClient.ts";
import { RpcError } from "../../rpc/rpcError.ts";
import { parseBlock, parseExpectedBlock } from "./parseBlock.ts";
import { toHex } from "./rpcValues.ts";

/**
 * Blocks of a node in one batch. Undefined where it has none: a chain without the tag, or without such a block yet,
 * answers with an error or with null. Throws RpcError for the newest block.
 */
export async function requestBlocks(
  rpc: JsonRpcClient,
  places: readonly BlockPlace[],
): Promise<(BlockRef | undefined)[]> {
  const answers = await rpc.requestEach(
    places.map((place) => ["eth_getBlockByNumber", [typeof place === "bigint" ? toHex(place) : place, false]]),
  );
  return places.map((place, index) => {
    const answer = answers[index];
    if (answer instanceof RpcError) {
      if (place === "latest") throw answer;
      return undefined;
    }
    if (answer === null) return undefined;
    return typeof place === "bigint" ? parseExpectedBlock(rpc.host, { number: place }, answer) : parseBlock(answer);
  });
}
