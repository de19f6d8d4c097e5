"""The replies of one job, which several runs may ask for at once."""

from tests.fakes.stores import MemoryStore

from caliper.core.question import Reply
from caliper.pipeline.asking.replies import ReplyBook


async def test_a_book_keeps_what_others_stored_meanwhile() -> None:
    store = MemoryStore()
    early = await ReplyBook.open(store, "job", "", "a")
    late = await ReplyBook.open(store, "job", "", "b")
    early.add("one", Reply("1"))
    for key in ("one", "two", "three"):
        late.add(key, Reply(key))
    await late.save(store)
    early.add("four", Reply("4"))
    await early.save(store)
    book = await ReplyBook.open(store, "job", "", "c")
    found = {key: book.reply(key) for key in ("one", "two", "three", "four")}
    assert found == {
        "one": Reply("1"),
        "two": Reply("two"),
        "three": Reply("three"),
        "four": Reply("4"),
    }
    assert book.askers == {"b": 3, "a": 1}


async def test_who_asked_first_stays_known() -> None:
    store = MemoryStore()
    late = await ReplyBook.open(store, "job", "", "late")
    first = await ReplyBook.open(store, "job", "", "first")
    first.add("one", Reply("1"))
    await first.save(store)
    for key in ("one", "two"):
        late.add(key, Reply("1"))
    await late.save(store)
    book = await ReplyBook.open(store, "job", "", "other")
    assert book.askers == {"first": 1, "late": 1}
