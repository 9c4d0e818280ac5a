import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { createPayloadCodec, type PayloadKeySource } from './payload-codec.ts';

/** The data converter of every worker and client of Holdfast's workflows. Keys have 32 bytes. */
export function createDataConverter(payloadKeys: Buffer | PayloadKeySource): DataConverter {
  return {
    payloadCodecs: [createPayloadCodec(payloadKeys)],
    failureConverterPath: fileURLToPath(new URL('./failure-converter.ts', import.meta.url)),
  };
}
