import { readFileSync } from 'node:fs';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';

/** Rows of a Parquet file. Decimals are their digits without the point: the reader would make floats of them. */
export async function readParquet(path: string): Promise<Record<string, unknown>[]> {
  const file = new Uint8Array(readFileSync(path)).buffer;
  const metadata = parquetMetadata(file);
  const decimals = metadata.schema.filter(({ converted_type }) => converted_type === 'DECIMAL');
  for (const element of decimals) {
    delete element.converted_type;
    delete element.logical_type;
  }
  const rows = await parquetReadObjects({ file, metadata, utf8: false });
  for (const row of rows) {
    for (const { name } of decimals) if (row[name] instanceof Uint8Array) row[name] = signedOf(row[name]);
  }
  return rows;
}

const signedOf = (bytes: Uint8Array): bigint => BigInt.asIntN(128, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
