// Starts the shop: an HTTP server, or with RHYTHM_ROLE=worker a process that only runs work. See sample-app/README.md.

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { startEmbedded } from '../src/index.js';
import { AppModule, type ShopOptions } from './app.module.js';

async function main(): Promise<void> {
  const { RHYTHM_DATABASE_URL, DATABASE_URL, RHYTHM_ROLE, PORT = '3000' } = process.env;
  const given = RHYTHM_DATABASE_URL ?? DATABASE_URL;
  const embedded = given ? undefined : await startEmbedded({ dataDir: '.rhythm/sample-app', durable: true });
  const shop = AppModule.with({ databaseUrl: given ?? (embedded?.url as string), ...fromEnvironment() });
  if (RHYTHM_ROLE === 'worker') {
    const worker = await NestFactory.createApplicationContext(shop);
    worker.enableShutdownHooks();
    console.log(`worker ready, pid ${process.pid}`);
  } else {
    const app = await NestFactory.create(shop);
    app.enableShutdownHooks();
    await app.listen(PORT, '127.0.0.1');
    console.log(`shop listening on ${await app.getUrl()}`);
  }
}

/** Lets the demo shorten the waits that otherwise take days. */
function fromEnvironment(): Partial<ShopOptions> {
  const { SHOP_REVIEW_AFTER, SHOP_PRINTER_MS } = process.env;
  return {
    policy: SHOP_REVIEW_AFTER ? { reviewAfter: SHOP_REVIEW_AFTER } : {},
    printerMs: SHOP_PRINTER_MS ? Number(SHOP_PRINTER_MS) : undefined,
  };
}

void main();
