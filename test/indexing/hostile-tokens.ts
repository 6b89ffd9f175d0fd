import type pg from 'pg';
import { type Address, concatHex, encodeAbiParameters, type Hex, numberToHex } from 'viem';
import { expect } from 'vitest';
import { deployToken } from '../../devnet/actions.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { deployQuoteProvider } from '../../devnet/packed/providers.ts';
import type { PackedGround } from '../../devnet/packed/random-pool.fixture.ts';
import { createPool, evenBins } from '../../devnet/pools.ts';

/** What a hostile token answers: `HostileToken.sol` has two of these worse than any text. */
const BURN: Hex = '0x';
const TEN_MEGABYTES: Hex = '0x01';
const text = (value: string) => encodeAbiParameters([{ type: 'string' }], [value]);
/** Words for strings, one of which is no UTF-8. */
const word = (value: Hex) => concatHex([value, numberToHex(0, { size: 32 - (value.length - 2) / 2 })]);

const TOKENS = [
  {
    ...{ symbol: BURN, name: TEN_MEGABYTES, decimals: 18 },
    indexed: { symbol: null, name: null, decimals: 18 },
    shown: { symbol: null, name: null, decimals: 18 },
  },
  {
    ...{ symbol: text('\u202e<script>alert(1)</script>\0\n'), name: text(`=${'x'.repeat(1_000)}`), decimals: 77 },
    indexed: { symbol: '\u202e<script>alert(1)</script>\n', name: `=${'x'.repeat(190)}`, decimals: 77 },
    shown: { symbol: '‹script›alert(1)‹/script›', name: 'x'.repeat(64), decimals: null },
  },
  {
    ...{ symbol: word('0x41ff42'), name: concatHex([numberToHex(32, { size: 32 }), numberToHex(64, { size: 32 })]) },
    decimals: 6,
    indexed: { symbol: 'A\ufffdB', name: null, decimals: 6 },
    shown: { symbol: 'A\ufffdB', name: null, decimals: 6 },
  },
] as const;
const HONEST = { symbol: 'FAIR', name: 'Fair token', decimals: 6 } as const;

/** Tokens that do their worst, each in a pool with an honest one that no pool had before. */
export class HostileTokens {
  readonly #hostile: Address[] = [];
  readonly #honest: Address[] = [];

  /** Makes pools of them, at any time: a second time others. */
  async openPools(ground: PackedGround): Promise<void> {
    for (const { symbol, name, decimals } of TOKENS) {
      const hostile = await deployContract(ground.chain, 'HostileToken', [symbol, name, BigInt(decimals)]);
      const honest = await deployToken(ground.chain, HONEST);
      await openPool(ground, hostile, honest);
      this.#hostile.push(hostile.toLowerCase() as Address);
      this.#honest.push(honest.toLowerCase() as Address);
    }
  }

  /** The index has what could be read, readers see it cleaned, and honest tokens are whole. */
  async expectIndexed(rows: pg.Client, chainId: number): Promise<void> {
    const read = async (schema: string, address: Address) => {
      const sql = `SELECT symbol, name, decimals FROM ${schema}.token WHERE chain_id = $1 AND address = $2`;
      return (await rows.query(sql, [chainId, address])).rows;
    };
    for (const [index, address] of this.#hostile.entries()) {
      const { indexed, shown } = TOKENS[index % TOKENS.length] ?? {};
      expect(await read('live', address), `token ${index}`).toEqual([indexed]);
      expect(await read('read_model', address), `token ${index}`).toEqual([shown]);
    }
    for (const address of this.#honest) expect(await read('read_model', address)).toEqual([HONEST]);
  }
}

async function openPool({ chain, deployment }: PackedGround, one: Address, other: Address): Promise<void> {
  const [token0, token1] = one.toLowerCase() < other.toLowerCase() ? [one, other] : [other, one];
  const unit = 1n << 64n;
  const quote = { bidX64: unit, askX64: unit, referenceX64: unit };
  const priceProvider = await deployQuoteProvider(chain, deployment, { token0, token1 }, quote);
  await createPool(chain, deployment, {
    ...{ token0, token1, priceProvider, bins: evenBins(-1, 1, 1_000), salt: numberToHex(7, { size: 32 }) },
    ...{ initialAmount0PerShareE18: unit, initialAmount1PerShareE18: unit },
  });
}
