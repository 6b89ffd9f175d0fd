import type pg from 'pg';
import { type Address, concatHex, encodeAbiParameters, type Hex, numberToHex } from 'viem';
import { expect } from 'vitest';
import { deployToken } from '../../devnet/actions.ts';
import { type Deployment, deployContract } from '../../devnet/deploy.ts';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { createPool, evenBins } from '../../devnet/pools.ts';
import { deployManualProvider } from '../../devnet/providers.ts';
import type { listingReader } from '../metadata/listing-reader.ts';

/** Where pools of such tokens are opened. */
interface HostileSetup {
  readonly chain: DevChain;
  readonly deployment: Pick<Deployment, 'poolFactory'>;
}

/** What a hostile token answers: `HostileToken.sol` has two of these worse than any text. */
const BURN: Hex = '0x';
const TEN_MEGABYTES: Hex = '0x01';
const text = (value: string) => encodeAbiParameters([{ type: 'string' }], [value]);
/** Words for strings, one of which is no UTF-8. */
const word = (value: Hex) => concatHex([value, numberToHex(0, { size: 32 - (value.length - 2) / 2 })]);

/** More gas than the indexer gives to a call, and less than a factory does. */
const EXPENSIVE = 1_000_000n;

interface Fields {
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
}

/** What a token answers, what the index has of it, and what readers see. */
interface HostilePlan {
  readonly symbol: Hex;
  readonly name: Hex;
  readonly decimals: number;
  readonly decimalsGas?: bigint;
  readonly indexed: Fields;
  readonly shown: Fields;
}

const TOKENS: readonly HostilePlan[] = [
  {
    symbol: BURN,
    name: TEN_MEGABYTES,
    decimals: 18,
    indexed: { symbol: null, name: null, decimals: 18 },
    shown: { symbol: null, name: null, decimals: 18 },
  },
  {
    symbol: text('\u202e<script>alert(1)</script>\0\n'),
    name: text(`=${'x'.repeat(1_000)}`),
    decimals: 77,
    indexed: { symbol: '\u202e<script>alert(1)</script>\n', name: `=${'x'.repeat(190)}`, decimals: 77 },
    shown: { symbol: '‹script›alert(1)‹/script›', name: 'x'.repeat(64), decimals: null },
  },
  {
    symbol: word('0x41ff42'),
    name: concatHex([numberToHex(32, { size: 32 }), numberToHex(64, { size: 32 })]),
    decimals: 6,
    indexed: { symbol: 'A\ufffdB', name: null, decimals: 6 },
    shown: { symbol: 'A\ufffdB', name: null, decimals: 6 },
  },
  {
    symbol: text('\u2066\u0007US\u001b[31mDC\u2069'),
    name: text('@"a",\'b\';\r\n=1+1'),
    decimals: 6,
    decimalsGas: EXPENSIVE,
    indexed: { symbol: '\u2066\u0007US\u001b[31mDC\u2069', name: '@"a",\'b\';\r\n=1+1', decimals: null },
    shown: { symbol: 'US[31mDC', name: '”a”‚’b’； =1+1', decimals: null },
  },
  {
    symbol: text('\0\u200b'),
    name: text('\u2028'),
    decimals: 255,
    indexed: { symbol: '\u200b', name: '\u2028', decimals: 255 },
    shown: { symbol: null, name: null, decimals: null },
  },
];
const HONEST = { symbol: 'FAIR', name: 'Fair token', decimals: 6 } as const;
/** What no text may have in JSON, cells and pages. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>&"'`,;]|^[=+\-@]/u;

/** Tokens that do their worst, each in a pool with an honest one that no pool had before. */
export class HostileTokens {
  readonly #hostile: Address[] = [];
  readonly #honest: Address[] = [];
  readonly #pools: Address[] = [];

  /** Makes pools of them, at any time: a second time others. */
  async openPools(setup: HostileSetup): Promise<void> {
    for (const { symbol, name, decimals, decimalsGas = 0n } of TOKENS) {
      const args = [symbol, name, BigInt(decimals), decimalsGas];
      const hostile = await deployContract(setup.chain, 'HostileToken', args);
      const honest = await deployToken(setup.chain, honestBeside(decimals));
      this.#pools.push(await openPool(setup, hostile, honest));
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
      const { indexed, shown } = planOf(index);
      expect(await read('live', address), `token ${index}`).toEqual([indexed]);
      expect(await read('read_model', address), `token ${index}`).toEqual([shown]);
    }
    for (const [index, address] of this.#honest.entries()) {
      const { decimals } = planOf(index);
      expect(await read('live', address)).toEqual([honestBeside(decimals)]);
    }
  }

  /** The API reports of each pool what readers see, in text that is safe wherever it is put. */
  async expectListed({ page }: ReturnType<typeof listingReader>, chainId: number): Promise<void> {
    const { data } = await page(chainId, { addresses: this.#pools.join(), count: this.#pools.length });
    expect(data.map(({ poolAddress }) => poolAddress).sort()).toEqual([...this.#pools].sort());
    for (const [index, pool] of this.#pools.entries()) {
      const record = data.find(({ poolAddress }) => poolAddress === pool);
      const tokens = [
        [record?.token0, record?.token0Symbol, record?.token0Name, record?.token0Decimals],
        [record?.token1, record?.token1Symbol, record?.token1Name, record?.token1Decimals],
      ];
      const { shown } = planOf(index);
      const reported = [shown.symbol, shown.name, shown.decimals].map((field) => field ?? undefined);
      expect(tokens).toContainEqual([this.#hostile[index], ...reported]);
      for (const each of [record?.pair, ...tokens.flat()]) expect(String(each)).not.toMatch(UNSAFE);
    }
  }
}

function planOf(index: number): HostilePlan {
  const plan = TOKENS[index % TOKENS.length];
  if (plan === undefined) throw new RangeError('no such token');
  return plan;
}

/** A factory takes decimals that are not too far apart. */
const honestBeside = (decimals: number) => (decimals > 77 ? { ...HONEST, decimals } : HONEST);

async function openPool({ chain, deployment }: HostileSetup, one: Address, other: Address): Promise<Address> {
  const [token0, token1] = one.toLowerCase() < other.toLowerCase() ? [one, other] : [other, one];
  const unit = 1n << 64n;
  const priceProvider = await deployManualProvider(chain, { token0, token1 }, { bidX64: unit, askX64: unit });
  return createPool(chain, deployment, {
    token0,
    token1,
    priceProvider,
    bins: evenBins(-1, 1, 1_000),
    salt: numberToHex(7, { size: 32 }),
    // Little, so that it can be scaled to any decimals.
    initialAmount0PerShareE18: 1n,
    initialAmount1PerShareE18: 1n,
  });
}
