/** Texts to count: from the sources of installed packages, or generated from a seed. */
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { makeRandom } from "../../test/support/random.js"

const require = createRequire(import.meta.url)

const random = makeRandom(2026)

const sources = (): string => {
  const folder = join(dirname(require.resolve("effect/package.json")), "src")
  return readdirSync(folder).filter((file) => file.endsWith(".ts")).map((file) =>
    readFileSync(join(folder, file), "utf8")
  )
    .join("\n")
}

const comments = (source: string): string =>
  (source.match(/\/\*\*[^]*?\*\//g) ?? []).join("\n").replace(/^ *\/?\*+\/? ?/gm, "").replace(
    /^@(since|category).*\n/gm,
    ""
  )

/** A text of words, the first ones more often than the last ones. */
const sentences = (words: string, marks: string, length: number): string => {
  const list = words.split(" ")
  const ends = Array.from(marks)
  let text = ""
  while (text.length < length) {
    for (let i = 2 + random.below(8); i > 0; i--) text += list[random.below(1 + random.below(list.length))]
    text += random.pick(ends)
  }
  return text
}

const chineseWords =
  "的 了 是 在 我们 系统 用户 问题 可以 一个 数据 时间 需要 使用 没有 这个 如果 因为 但是 已经 进行 服务 " +
  "请求 结果 文件 错误 消息 测试 代码 版本 更新 方法 函数 参数 返回 模块 接口 配置 环境 变量 对象 类型 字符 列表 循环 条件 " +
  "逻辑 算法 性能 内存 线程 进程 并发 同步 队列 缓存 查询 索引 事务 备份 恢复 安全 权限 认证 加密 密钥 协议 地址 端口 客户 " +
  "经理 会议 报告 计划 项目 团队 成员 工作 学习 生活 朋友 家人 城市 天气 春天 夏天 秋天 冬天 港口 海鸥 码头 码头上 船 出海 " +
  "安静 早上 昨天 明天 上午 下午 晚上 先生 女士 老师 学生 医生 银行 超市 火车 飞机 地铁 公里 公斤 价格 便宜 昂贵 颜色 红色"

const japaneseWords =
  "の は を が に で と も です ます した する から まで について こと もの これ それ データ システム ユーザー " +
  "問題 時間 必要 使用 場合 結果 ファイル エラー メッセージ テスト コード 更新 方法 関数 変数 設定 環境 サーバー ネットワーク " +
  "今日 明日 昨日 朝 夜 港 船 カモメ 桟橋 静か 出発 到着 会議 報告 計画 仕事 学校 先生 学生 友達 家族 天気 春 夏 秋 冬 電車 " +
  "飛行機 値段 安い 高い 赤い 青い 食べる 飲む 見る 聞く 話す 書く 読む 待ちましょう と思います かもしれません"

const englishWords =
  "harbour morning boat report server retry window budget message token review ticket customer invoice delay ship " +
  "order refund parcel answer question schedule meeting release branch deploy failure memory summary"

const records = (length: number): string => {
  const words = englishWords.split(" ")
  const items: Array<unknown> = []
  for (let size = 0; size < length; size += 300) {
    items.push({
      id: `${random.below(2 ** 31).toString(16)}-${random.below(2 ** 31).toString(16)}`,
      created_at: `2026-${10 + random.below(3)}-${10 + random.below(18)}T0${random.below(10)}:15:22.${
        random.below(1000)
      }Z`,
      status: random.pick(["open", "closed", "pending"]),
      total: random.below(1_000_000) / 100,
      title: Array.from({ length: 6 }, () => random.pick(words)).join(" "),
      tags: [random.pick(words), random.pick(words)],
      customer: { name: random.pick(words), isActive: random.below(2) === 1, address: null }
    })
  }
  return JSON.stringify(items, null, 1)
}

const base64 = (length: number): string => {
  const bytes = Uint8Array.from({ length: Math.ceil(length * 3 / 4) }, () => random.below(256))
  return Buffer.from(bytes).toString("base64")
}

export const corpora = (length: number): Readonly<Record<string, string>> => {
  const source = sources()
  const markdown = comments(source)
  const prose = markdown.replace(/```[^]*?```/g, "")
  const chinese = sentences(chineseWords, "，，，。、！？：\n", length)
  const japanese = sentences(japaneseWords, "、、、。。\n", length)
  const mixed = Array.from(
    { length: length / 200 },
    (_, i) =>
      prose.slice(i * 70, i * 70 + 70) + " — " + chinese.slice(i * 60, i * 60 + 60) + " 😀 " +
      source.slice(i * 70, i * 70 + 70)
  )
  const all = {
    prose: prose.slice(0, length),
    markdown: markdown.slice(-length),
    code: source.replace(/\/\*\*[^]*?\*\//g, "").slice(0, length),
    JSON: records(length),
    Chinese: chinese,
    Japanese: japanese,
    mixed: mixed.join("\n"),
    base64: base64(length)
  }
  return all
}

/** Cuts a text into flat strings of a length. */
export const cut = (text: string, length: number): ReadonlyArray<string> => {
  const texts: Array<string> = []
  for (let at = 0; at + length <= text.length; at += length) {
    texts.push(Buffer.from(text.slice(at, at + length).toWellFormed()).toString())
  }
  return texts
}
