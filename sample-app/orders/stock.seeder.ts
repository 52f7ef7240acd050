// Fills the stock table of a new shop, so that there is something to sell.

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Stock } from './order.entity.js';

const INITIAL_STOCK = [
  { sku: 'LAMP-3', available: 1_000 },
  { sku: 'DESK-1', available: 1_000 },
  { sku: 'BULB-9', available: 1_000 },
];

@Injectable()
export class StockSeeder implements OnModuleInit {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  async onModuleInit(): Promise<void> {
    await this.database.createQueryBuilder().insert().into(Stock).values(INITIAL_STOCK).orIgnore().execute();
  }
}
