// An app that starts nothing and waits for the result of an execution that others run.

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ExecutionService, RhythmModule } from '../../src/index.js';

const say = (line: string) => process.stdout.write(`${line}\n`);
const app = await NestFactory.createApplicationContext(
  RhythmModule.forRoot({ role: 'api', database: { url: process.env.WAITER_URL as string, schema: process.env.WAITER_SCHEMA as string } }),
  { logger: false },
);
process.on('SIGUSR2', () => {
  say('waiting');
  app
    .get(ExecutionService)
    .result(process.env.WAITER_ID as string)
    .then(
      (result) => say(`result ${JSON.stringify(result)}`),
      (error: Error) => say(`rejected ${error.message}`),
    );
});
say('ready');
