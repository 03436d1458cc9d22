"""The search command, and the buttons that turn its pages."""

from bot.models.deliveries import Outcome
from bot.models.subjects import parse_page_value
from bot.services.channels import ChannelView
from bot.slack.commands.conversation import Conversation
from bot.slack.messages.blocks import Message
from bot.slack.messages.lists import PAGE_SIZE, search_messages
from bot.slack.parsing.command_types import Search
from bot.slack.parsing.requests import ButtonRequest
from bot.store import Store

_MOST_FOUND = 1_000  # search results available by paging


class SearchCommand:
    """Finds stored commits."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def show(self, conversation: Conversation, command: Search) -> Outcome:
        """Show the first page of results."""
        conversation.show(self._page(conversation.view, command, 0))
        return Outcome()

    def turn_page(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Replace a page of results with the one that a button names."""
        page = parse_page_value(button.value)
        command = conversation.understand(page.words)
        if isinstance(command, Search):
            conversation.show(self._page(conversation.view, command, page.offset), replace=True)
        return Outcome()

    def _page(self, view: ChannelView, command: Search, offset: int) -> list[Message]:
        """Return one page of results; its paging buttons carry the equivalent command, `again`."""
        if command.repository:
            view.reader.allow(command.repository)
        among = [command.repository] if command.repository else view.reader.known
        # An empty `among` means all repositories to the store; here it means that none is visible.
        hits = self._store.search_index.search(command.words, among, offset + PAGE_SIZE + 1)[offset:] if among else []
        again = f"{command.repository} search {command.words}" if command.repository else f"search {command.words}"
        return search_messages(
            command.words,
            [(each.repository, each.commit) for each in hits[:PAGE_SIZE]],
            offset // PAGE_SIZE,
            more=len(hits) > PAGE_SIZE and offset < _MOST_FOUND,
            language=view.language,
            tz=view.tz,
            again=again,
        )
