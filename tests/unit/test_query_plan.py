"""From a question to what is searched."""

from datetime import UTC, datetime
from time import perf_counter
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.query import LONG_PROMPT, MOST_SENTENCES, QueryPlan, is_self_contained, plan
from recollect.recall.statement import past, statement

NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)
HISTORY = [
    "Hello",
    "We want to fly to Hawaii with Anna",
    "The hotel near Waikiki looks good",
    "Let's take it",
]
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=400)


def planned(query: str, *history: str) -> QueryPlan:
    return plan(query, history=history, now=NOW)


@pytest.mark.parametrize(
    ("query", "alone"),
    [
        ("What's my budget for the Hawaii trip?", True),
        ("How much did I pay for the couch?", True),
        ("Where did I leave my passport?", True),
        ("How much?", False),
        ("And how much did it cost?", False),
        ("What about the other one?", False),
        ("and that one, is it nice?", False),
        ("Is this one any better?", False),
        ("My budget?", False),
        ("the wifi password?", True),
        ("who is Otto?", True),
        ("ROB-4471", True),
        ("And last week?", False),
        ("", False),
    ],
)
def test_what_stands_alone(query: str, alone: bool) -> None:
    assert is_self_contained(query) is alone


def test_a_vague_question_gets_key_terms_of_the_last_three_messages() -> None:
    found = planned("And how much is it?", "I have a dog, Rex", *HISTORY[1:])
    assert found.query == "And how much is it?"
    assert found.added == ("take", "hotel", "near", "waikiki", "looks", "good", "fly", "hawaii", "anna")
    assert found.text == "And how much is it? take hotel near waikiki looks good fly hawaii anna"
    assert not found.self_contained


def test_without_a_history_the_query_is_searched_as_it_is() -> None:
    found = planned("how much?")
    assert (found.text, found.added) == ("how much?", ())


def test_a_question_that_stands_alone_is_left_alone() -> None:
    query = "What's my budget for the Hawaii trip?"
    assert planned(query, *HISTORY).text == query


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What's my budget for the trip?", "my budget for the trip is"),
        ("What’s Dana's email address?", "Dana's email address is"),
        ("What are my hobbies?", "my hobbies are"),
        ("What was I reading?", "I was reading"),
        ("What color is my car?", "my car color is"),
        ("What car do I drive?", "I drive car"),
        ("What kind of music do I like?", "I like music"),
        ("what does Tom like to eat", "Tom likes to eat"),
        ("What did I say about the roof?", "the roof"),
        ("What should I read next?", "I should read next"),
        ("Where do I live?", "I live in"),
        ("Where did I go on holiday?", "I went on holiday to"),
        ("Where is my passport?", "my passport is in"),
        ("Where was my brother born?", "my brother was born in"),
        ("When is my next dentist appointment?", "my next dentist appointment is on"),
        ("When did I start working at Acme?", "I started working at Acme on"),
        ("Who is my landlord?", "my landlord is"),
        ("Who gave me the watch?", "gave me the watch"),
        ("Which restaurant did you recommend?", "you recommended restaurant"),
        ("How much did I pay for the couch?", "I paid for the couch"),
        ("How much is the rent?", "the rent is"),
        ("How many siblings do I have?", "I have siblings"),
        ("How old is my dog?", "my dog is old"),
        ("Why did I sell the bike?", "I sold the bike because"),
        ("Did I already book the hotel?", "I booked the hotel"),
        ("Do I have any allergies?", "I have any allergies"),
        ("Is my sister allergic to nuts?", "my sister is allergic to nuts"),
        ("Am I vegetarian?", "I am vegetarian"),
        ("Have I paid the bill?", "I have paid the bill"),
        ("Can you remind me what my budget is?", "my budget is"),
        ("Do you know when my flight is?", "my flight is"),
        ("I moved to Porto", None),
        ("Wie heißt meine Schwester?", None),
        ("What?", None),
        ("", None),
    ],
)
def test_a_question_as_a_statement(question: str, expected: str | None) -> None:
    assert statement(question) == expected


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("buy", "bought"),
        ("like", "liked"),
        ("try", "tried"),
        ("stop", "stopped"),
        ("play", "played"),
        ("visit", "visited"),
    ],
)
def test_past_tense(verb: str, expected: str) -> None:
    assert past(verb) == expected


def test_the_time_is_left_out_of_the_statement() -> None:
    assert planned("What did I buy for Anna last week?").statement == "I bought for Anna"


def test_the_last_question_of_a_prompt_is_the_one_turned() -> None:
    found = planned("I'm packing for Rome. Is it warm? Where did I put my sunglasses?")
    assert found.statement == "I put my sunglasses in"


def test_a_long_first_prompt_is_searched_by_its_sentences() -> None:
    prompt = (
        "Hi! I'm planning the garden party for my old mother's birthday. Thanks. She likes roses and "
        "jazz, I think. What did the caterer charge per guest? And so on. "
        "Please write the long invitation in a warm tone."
    )
    assert len(prompt) > LONG_PROMPT
    found = planned(prompt)
    assert found.sentences == (
        "I'm planning the garden party for my old mother's birthday.",
        "She likes roses and jazz, I think.",
        "What did the caterer charge per guest?",
        "Please write the long invitation in a warm tone.",
    )
    assert found.searches == (prompt, "the caterer charged per guest", *found.sentences)
    assert planned(prompt, "earlier message").sentences == ()


def test_of_many_sentences_questions_come_first() -> None:
    prompt = (
        " ".join(f"Fact number{i} concerns topic{i}." for i in range(50)) + " What does gadget fifty cost?"
    )
    found = planned(prompt).sentences
    assert len(found) == MOST_SENTENCES
    assert found[0] == "Fact number0 concerns topic0."
    assert found[-1] == "What does gadget fifty cost?"


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("What did I say last week?", "said"),
        ("What did I mention about the roof last week?", "said"),
        ("What did I tell you yesterday?", "said"),
        ("What did we talk about on Tuesday?", "said"),
        ("What did you recommend in March?", "said"),
        ("Last month I asked you about a podcast", "said"),
        ("What did I buy last week?", "happened"),
        ("What did I tell my boss yesterday?", "happened"),
        ("What did I say I bought on Friday?", "happened"),
        ("Did I say anything? I was ill last week", "happened"),
        ("When I moved in March, what did I say?", "happened"),
    ],
)
def test_what_was_said_then_and_what_happened_then(query: str, kind: str) -> None:
    (hint,) = planned(query).times
    assert hint.kind == kind


@pytest.mark.parametrize(
    ("query", "alone"),
    [
        ("What did I say last week?", True),
        ("What happened yesterday?", True),
        ("what did we talk about on Tuesday", True),
        ("What did I do in March?", True),
        ("What did I say about the roof last week?", False),
        ("What did I buy last week?", False),
        ("Which film did I mention yesterday?", False),
        ("What did I say?", False),
        ("", False),
    ],
)
def test_nothing_but_a_time_is_asked_for(query: str, alone: bool) -> None:
    assert planned(query).only_times is alone


def test_what_leans_on_the_conversation_asks_for_more_than_a_time() -> None:
    assert planned("And last week?").only_times
    assert not planned("And last week?", "Tell me about the roof").only_times


def test_a_question_about_plans_looks_ahead() -> None:
    (ahead,) = planned("What am I doing on Friday?").times
    (behind,) = planned("What did I do on Friday?").times
    assert ahead.since == datetime(2024, 5, 17, tzinfo=UTC)
    assert behind.since == datetime(2024, 5, 10, tzinfo=UTC)


def test_the_hint_is_in_the_users_zone() -> None:
    zone = ZoneInfo("America/New_York")
    (hint,) = plan("What did I buy yesterday?", now=NOW, zone=zone).times
    assert (hint.since, hint.until) == (
        datetime(2024, 5, 14, tzinfo=zone),
        datetime(2024, 5, 15, tzinfo=zone),
    )


@pytest.mark.parametrize(
    ("query", "relation", "event"),
    [
        ("What have I bought since I moved to Berlin?", "since", "I moved to Berlin"),
        ("Since I moved what have I spent?", "since", "I moved"),
        ("What did I do after the wedding?", "after", "the wedding"),
        ("Who called before Anna's party?", "before", "Anna's party"),
        ("What was I reading when I was in Rome, again?", "when", "I was in Rome"),
        ("What did I eat during my trip?", "during", "my trip"),
        ("What did I change after switching jobs?", "after", "switching jobs"),
    ],
)
def test_an_event_that_gives_a_time(query: str, relation: str, event: str) -> None:
    anchor = planned(query).anchor
    assert anchor is not None
    assert (anchor.relation, anchor.event) == (relation, event)
    assert anchor.phrase in query


@pytest.mark.parametrize(
    "query",
    [
        "When is my flight?",
        "Do you know when my flight is?",
        "What did I buy since March?",
        "before the end of March",
    ],
)
def test_no_event(query: str) -> None:
    assert planned(query).anchor is None


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=5))
def test_any_text_can_be_planned(query: str, history: list[str]) -> None:
    found = plan(query, history=history, now=NOW)
    assert found.query == query
    assert found.searches[0] == found.text
    assert query.strip() in found.text
    assert len(found.searches) <= 2 + MOST_SENTENCES


@pytest.mark.parametrize(
    "piece",
    [
        "what is ",
        "since I ",
        "I say ",
        "a. ",
        "?",
        "when I moved ",
        "'",
        "i ",
        "what a b c d ",
        "my new ",
        ".' ",
        "\n",
        "東",
    ],
)
def test_a_long_prompt_is_planned_in_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    begun = perf_counter()
    plan(text, history=[text], now=NOW)
    assert perf_counter() - begun < 5


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Can you recommend a documentary?", "I like documentary. I love my documentary."),
        ("Any tips for my slow cooker?", "I like slow cooker. I love my slow cooker."),
        ("What should I serve for dinner?", "I like serve dinner. I love my serve dinner."),
        ("What did I serve for dinner?", None),
        ("Any suggestions?", None),
    ],
)
def test_who_asks_for_advice_likes_what_it_is_about(question: str, expected: str | None) -> None:
    assert plan(question, now=NOW).preference == expected


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What did you suggest last week?", "said"),
        ("Can you suggest what I did last week?", "happened"),
        ("Could you recommend something like last week?", "happened"),
    ],
)
def test_a_request_is_nothing_that_was_said(question: str, kind: str) -> None:
    assert [hint.kind for hint in planned(question).times] == [kind]
