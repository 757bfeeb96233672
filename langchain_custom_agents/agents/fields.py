"""Arguments that nobody would use are refused, with the nearest right name.

LangChain's classes drop unknown constructor arguments without a word.
"""

from typing import Any

from pydantic import BaseModel, model_validator

from langchain_custom_agents._arguments import refuse_unknown


class KnownFields(BaseModel):
    """A base for models that refuse unknown constructor arguments.

    `callback_manager` is let through where it is None: LangChain's own factories pass it.
    """

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, values: Any) -> Any:
        if isinstance(values, dict):
            known = set(cls.model_fields) | cls._also_accepted()
            known |= {field.alias for field in cls.model_fields.values() if field.alias}
            refuse_unknown(cls.__name__, values, known)
        return values

    @classmethod
    def _also_accepted(cls) -> set[str]:
        """Name what a validator of the class understands beside its fields."""
        return {"callback_manager"}
